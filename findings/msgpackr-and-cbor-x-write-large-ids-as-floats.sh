#!/usr/bin/env bash
# One would guess: a whole number that JavaScript puts into MessagePack or CBOR is a whole number to Python, up to 2 to the 53rd, where
# JavaScript's own end.
# What happens: msgpackr and cbor-x write each number from 2 to the 32nd up as a float, msgpackr also each below minus 2 to the 31st. An id
# of ten digits, or a time in milliseconds, which a worker in Node leaves in a cache or a queue, is 1772616600000.0 to Python: the key made
# of it is "post:1772616600000.0", under which there is nothing, and json writes the fraction on. @msgpack/msgpack and Node's own JSON write
# whole numbers. Smaller ids are right, so that it begins with the 4,294,967,296th, or with the first date.
# Seen with: msgpackr 2.1.4, cbor-x 1.6.9, @msgpack/msgpack 3.1.3; read with msgpack 1.2.4 and cbor2 6.3.0. Source: six numbers.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund msgpackr@2.1.4 cbor-x@1.6.9 @msgpack/msgpack@3.1.3
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet msgpack==1.2.4 cbor2==6.3.0
cat > write.mjs <<'JS'
import { writeFileSync } from "node:fs";
import * as cborX from "cbor-x";
import * as msgpackr from "msgpackr";
import { encode } from "@msgpack/msgpack";
const ids = [7, 2 ** 31, 2 ** 32 - 1, 2 ** 32, Date.parse("2026-03-04T09:30:00Z"), -(2 ** 31) - 1];
for (const [name, bytes] of Object.entries({ "msgpackr": msgpackr.pack(ids), "cbor-x": cborX.encode(ids), "msgpack": encode(ids), "json": JSON.stringify(ids) }))
  writeFileSync(name, bytes);
JS
cat > read.py <<'PY'
import json
from pathlib import Path
import cbor2, msgpack

for name, read in (("msgpackr", msgpack.unpackb), ("cbor-x", cbor2.loads), ("msgpack", msgpack.unpackb), ("json", json.loads)):
    print(f"{name}:", *(f"post:{number}" for number in read(Path(name).read_bytes())))
PY
node write.mjs
venv/bin/python read.py | tee seen
diff seen - <<'SEEN'
msgpackr: post:7 post:2147483648 post:4294967295 post:4294967296.0 post:1772616600000.0 post:-2147483649.0
cbor-x: post:7 post:2147483648 post:4294967295 post:4294967296.0 post:1772616600000.0 post:-2147483649
msgpack: post:7 post:2147483648 post:4294967295 post:4294967296 post:1772616600000 post:-2147483649
json: post:7 post:2147483648 post:4294967295 post:4294967296 post:1772616600000 post:-2147483649
SEEN
