#!/usr/bin/env bash
# One would guess: ormsgpack with OPT_DATETIME_AS_TIMESTAMP_EXT keeps a datetime to the microsecond, as msgpack's timestamp has room for
# nanoseconds.
# What happens: from .536871 on the fraction is gone, silently: 09:30:00.536870 is kept, 09:30:00.536871 to 09:30:00.999999 are all
# 09:30:00. What is written 0.6 s after the full second comes before what was written at 0.2 s, and a time that was taken twice, once
# through the cache, is not equal to itself. The limit is 2 to the 29th nanoseconds, from which on the 64-bit form has its highest bit set.
# msgpack writes all of them, and reads from ormsgpack what it wrote.
# Seen with: ormsgpack 1.13.1, msgpack 1.2.4. Source: 1,004 moments of one second, written by each and read by both.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet ormsgpack==1.13.1 msgpack==1.2.4
cat > try.py <<'PY'
from datetime import datetime, timezone
import msgpack, ormsgpack

OPTION = ormsgpack.OPT_DATETIME_AS_TIMESTAMP_EXT
moments = [datetime(2026, 3, 4, 9, 30, 0, micro, timezone.utc) for micro in (0, 200_000, 536_870, 536_871, 600_000, 999_999)]
for moment in moments:
    written = ormsgpack.packb(moment, option=OPTION)
    read = [ormsgpack.unpackb(written, option=OPTION), msgpack.unpackb(written, timestamp=3)]
    other = msgpack.unpackb(msgpack.packb(moment, datetime=True), timestamp=3)
    print(f"{moment:%S.%f}: ormsgpack {len(written)} bytes, {read[0]:%S.%f}, read by msgpack {read[1]:%S.%f}; msgpack {other:%S.%f}")
kept = [ormsgpack.unpackb(ormsgpack.packb(moment, option=OPTION), option=OPTION) for moment in moments]
print("in order:", kept == sorted(kept))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
00.000000: ormsgpack 6 bytes, 00.000000, read by msgpack 00.000000; msgpack 00.000000
00.200000: ormsgpack 10 bytes, 00.200000, read by msgpack 00.200000; msgpack 00.200000
00.536870: ormsgpack 10 bytes, 00.536870, read by msgpack 00.536870; msgpack 00.536870
00.536871: ormsgpack 6 bytes, 00.000000, read by msgpack 00.000000; msgpack 00.536871
00.600000: ormsgpack 6 bytes, 00.000000, read by msgpack 00.000000; msgpack 00.600000
00.999999: ormsgpack 6 bytes, 00.000000, read by msgpack 00.000000; msgpack 00.999999
in order: False
SEEN
