#!/usr/bin/env bash
# One would guess: redis-py without `protocol` speaks RESP2 as ever, `protocol=3` gives what RESP3 gives, and with decode_responses=True all
# of an answer is text and numbers.
# What happens: 8.1.0 speaks RESP3 and converts the answers of its own methods back to those of RESP2, so that the default and
# `protocol=3` differ: pairs with a score are tuples, then lists; xread is a list, then a dict whose entries are in one list too many.
# What goes through execute_command is not converted: ZRANGE WITHSCORES, a flat list of strings before, is pairs with numbers.
# The conversion forgets decode_responses: zdiff and zrandmember with scores give text and bytes in one list. `protocol=2` is as before.
# Seen with: redis-py 8.1.0, and 5.2.1 without options, on Redis 6.2 or later. Source: run against REDIS_URL
# (`eval "$(make -s services)"`), one key of each kind.
set -euo pipefail
: "${REDIS_URL:?set it to the address of a Redis 6.2 or later}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
cat > try.py <<'PY'
import os

import redis

for name, options in (("default", {}), ("protocol=3", {"protocol": 3}), ("protocol=2", {"protocol": 2})):
    if redis.VERSION < (8,) and options:
        continue
    client = redis.from_url(os.environ["REDIS_URL"], decode_responses=True, **options)
    scores, stream = f"finding-scores-{os.getpid()}", f"finding-stream-{os.getpid()}"
    client.zadd(scores, {"rye": 1})
    client.xadd(stream, {"grain": "rye"}, id="1-1")
    print(redis.__version__, name)
    print("  zrange:", client.zrange(scores, 0, -1, withscores=True))
    print("  execute_command:", client.execute_command("ZRANGE", scores, 0, -1, "WITHSCORES"))
    print("  zdiff:", client.zdiff([scores], withscores=True))
    print("  zrandmember:", client.zrandmember(scores, 1, withscores=True))
    read = client.xread({stream: "0"})
    print("  xread:", list(read.values()) if isinstance(read, dict) else [entries for _, entries in read], type(read).__name__)
    client.delete(scores, stream)
PY
for pin in redis==5.2.1 redis==8.1.0; do
  venv/bin/pip --disable-pip-version-check install --quiet "$pin"
  venv/bin/python try.py
done | tee seen
diff seen - <<'SEEN'
5.2.1 default
  zrange: [('rye', 1.0)]
  execute_command: ['rye', '1']
  zdiff: ['rye', '1']
  zrandmember: ['rye', '1']
  xread: [[('1-1', {'grain': 'rye'})]] list
8.1.0 default
  zrange: [('rye', 1.0)]
  execute_command: [['rye', 1.0]]
  zdiff: ['rye', b'1']
  zrandmember: ['rye', b'1']
  xread: [[('1-1', {'grain': 'rye'})]] list
8.1.0 protocol=3
  zrange: [['rye', 1.0]]
  execute_command: [['rye', 1.0]]
  zdiff: [['rye', 1.0]]
  zrandmember: [['rye', 1.0]]
  xread: [[[('1-1', {'grain': 'rye'})]]] dict
8.1.0 protocol=2
  zrange: [('rye', 1.0)]
  execute_command: ['rye', '1']
  zdiff: ['rye', '1']
  zrandmember: ['rye', '1']
  xread: [[('1-1', {'grain': 'rye'})]] list
SEEN
