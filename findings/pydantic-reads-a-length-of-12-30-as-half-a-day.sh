#!/usr/bin/env bash
# One would guess: pydantic reads the length of an episode as podcasts write it (<itunes:duration> is 12:30, 1:02:03 or a number of seconds) into a
# timedelta, or says that it cannot.
# What happens: two numbers are hours and minutes: 12:30 is half a day, where Apple's format has twelve and a half minutes, while 1:02:03, with
# three, is an hour. Seconds are read as a number (750), and refused as text ("750"), which is what a feed has. With datetime it is the other way
# round: text of digits is seconds since 1970, so that a year (2026) is 00:33:46 on 1 January 1970, and 20260304, ISO 8601 without
# hyphens, is August 1970. date refuses both, and datetime.fromisoformat of Python 3.11 reads the second as 4 March 2026.
# Seen with: pydantic 2.14.4, msgspec 0.23.0, which reads only PT12M30S. Source: 25 texts as four types.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet pydantic==2.14.4 msgspec==0.23.0
cat > try.py <<'PY'
from datetime import date, datetime, timedelta
import msgspec
from pydantic import TypeAdapter


def read(reader, text, kind):
    try:
        return str(reader(text, kind))
    except ValueError:
        return "refused"


def pydantic(value, kind):
    return TypeAdapter(kind).validate_python(value)


for kind, values in ((timedelta, ("12:30", "1:02:03", "750", 750, "PT12M30S")), (datetime, ("2026", "20260304", "2026-03-04")), (date, ("2026", "20260304"))):
    for value in values:
        print(f"{kind.__name__} {value!r}: pydantic {read(pydantic, value, kind)}, msgspec {read(msgspec.convert, value, kind)}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
timedelta '12:30': pydantic 12:30:00, msgspec refused
timedelta '1:02:03': pydantic 1:02:03, msgspec refused
timedelta '750': pydantic refused, msgspec refused
timedelta 750: pydantic 0:12:30, msgspec refused
timedelta 'PT12M30S': pydantic 0:12:30, msgspec 0:12:30
datetime '2026': pydantic 1970-01-01 00:33:46+00:00, msgspec refused
datetime '20260304': pydantic 1970-08-23 11:51:44+00:00, msgspec refused
datetime '2026-03-04': pydantic 2026-03-04 00:00:00, msgspec refused
date '2026': pydantic refused, msgspec refused
date '20260304': pydantic refused, msgspec refused
SEEN
