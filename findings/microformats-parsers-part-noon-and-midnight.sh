#!/usr/bin/env bash
# One would guess: two parsers of microformats read the same date from a post, as microformats.org says step by step how.
# What happens: for a date and a time in two elements of the class `value`, mf2py says midnight for 12am and microformats-parser noon. Of an
# <abbr class="value" title="2026-03-04"> the second takes the text, in capitals: "4 MARCH". It keeps "p.m." in the time, has no date of
# an old hentry with abbr.published, and for a link to /tag/rye-bread the text of the link is the tag, not the last part of its address
# as in mf2py. That one in turn has no date for `value-title`.
# Seen with: mf2py 2.0.2, microformats-parser 2.0.6. Source: 50 entries, of which they read 16 otherwise.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund microformats-parser@2.0.6
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mf2py==2.0.2
cat > entries.json <<'JSON'
["<p class='h-entry'><span class='dt-published'><b class='value'>2026-03-04</b> <b class='value'>12am</b></span></p>",
"<p class='h-entry'><span class='dt-published'><b class='value'>2026-03-04</b> <b class='value'>7:05 p.m.</b></span></p>",
"<p class='h-entry'><span class='dt-published'><abbr class='value' title='2026-03-04'>4 March</abbr> <b class='value'>19:05</b></span></p>",
"<p class='h-entry'><span class='dt-published'><b class='value-title' title='2026-03-04'></b>March</span></p>",
"<p class='hentry'><abbr class='published' title='2026-03-04'>4 March</abbr></p>",
"<p class='hentry'><a rel='tag' href='/tag/rye-bread'>Rye</a></p>",
"<p class='h-entry'><time class='dt-published' datetime='2026-03-04T19:05'>4 March</time></p>"]
JSON
cat > try.py <<'PY'
import json

import mf2py

for entry in json.load(open("entries.json")):
    (item,) = mf2py.parse(doc=entry, url="https://blog.example.org/")["items"]
    print("mf2py:", item["properties"].get("published"), item["properties"].get("category"))
PY
cat > try.cjs <<'JS'
const { mf2 } = require("microformats-parser");
for (const entry of require("./entries.json")) {
  const { published, category } = mf2(entry, { baseUrl: "https://blog.example.org/" }).items[0].properties;
  console.log("microformats-parser:", published, category);
}
JS
{ venv/bin/python try.py; node try.cjs; } | tee seen
diff seen - <<'SEEN'
mf2py: ['2026-03-04 00:00'] None
mf2py: ['2026-03-04 19:05'] None
mf2py: ['2026-03-04 19:05'] None
mf2py: [] None
mf2py: ['2026-03-04'] None
mf2py: None ['rye-bread']
mf2py: ['2026-03-04T19:05'] None
microformats-parser: [ '2026-03-04 12:00' ] undefined
microformats-parser: [ '2026-03-04 7:05 P.M.' ] undefined
microformats-parser: [ '4 MARCH 19:05' ] undefined
microformats-parser: [ '2026-03-04' ] undefined
microformats-parser: undefined undefined
microformats-parser: undefined [ 'Rye' ]
microformats-parser: [ '2026-03-04T19:05' ] undefined
SEEN
