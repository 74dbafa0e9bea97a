#!/usr/bin/env bash
# One would guess: the text (`value`) that a parser of microformats gives beside the HTML of e-content has a space or a line break
# wherever the page has one, so that it can be searched or shown as an excerpt.
# What happens: mf2py ends a line at <br> and around paragraphs only. Items of a list, cells, headings, divisions, terms and quotations
# are joined to what follows: a list of rye and oats is the word "ryeoats", and its last item is one with the code behind it. The
# parser in JavaScript joins paragraphs and <br>, too. Both do what the specification says (textContent). Only pages whose HTML has white
# space between the tags keep their words.
# Seen with: mf2py 2.0.2, microformats-parser 2.0.6. Source: a note with each of these elements.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mf2py==2.0.2
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund microformats-parser@2.0.6
cat > pieces.json <<'JSON'
{"paragraphs": "<p>rye</p><p>oats</p>", "line break": "rye<br>oats", "list": "<ul><li>rye</li><li>oats</li></ul>",
 "behind a list": "<ul><li>rye</li></ul><pre>oats</pre>", "headings": "<h2>rye</h2><h3>oats</h3>", "heading, text": "<h2>rye</h2><p>oats</p>",
 "cells": "<table><tr><td>rye</td><td>oats</td></tr></table>", "divisions": "<div>rye</div><div>oats</div>",
 "quotation": "<blockquote>rye</blockquote>oats", "definition": "<dl><dt>rye</dt><dd>oats</dd></dl>", "between tags": "<ul><li>rye</li>\n<li>oats</li></ul>"}
JSON
cat > try.py <<'PY'
import json, mf2py

for name, piece in json.load(open("pieces.json")).items():
    page = f'<article class="h-entry"><div class="e-content">{piece}</div></article>'
    (entry,) = mf2py.parse(doc=page)["items"]
    print(f"mf2py, {name}:", json.dumps(entry["properties"]["content"][0]["value"]))
PY
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { mf2 } from "microformats-parser";
for (const [name, piece] of Object.entries(JSON.parse(readFileSync("pieces.json", "utf8")))) {
  const page = `<article class="h-entry"><div class="e-content">${piece}</div></article>`;
  const { items: [entry] } = mf2(page, { baseUrl: "https://blog.example.org/" });
  console.log(`microformats-parser, ${name}:`, JSON.stringify(entry.properties.content[0].value));
}
JS
{ venv/bin/python -W ignore try.py; node try.mjs; } | tee seen
diff seen - <<'SEEN'
mf2py, paragraphs: "rye\n\noats"
mf2py, line break: "rye\noats"
mf2py, list: "ryeoats"
mf2py, behind a list: "ryeoats"
mf2py, headings: "ryeoats"
mf2py, heading, text: "rye\noats"
mf2py, cells: "ryeoats"
mf2py, divisions: "ryeoats"
mf2py, quotation: "ryeoats"
mf2py, definition: "ryeoats"
mf2py, between tags: "rye oats"
microformats-parser, paragraphs: "ryeoats"
microformats-parser, line break: "ryeoats"
microformats-parser, list: "ryeoats"
microformats-parser, behind a list: "ryeoats"
microformats-parser, headings: "ryeoats"
microformats-parser, heading, text: "ryeoats"
microformats-parser, cells: "ryeoats"
microformats-parser, divisions: "ryeoats"
microformats-parser, quotation: "ryeoats"
microformats-parser, definition: "ryeoats"
microformats-parser, between tags: "rye\noats"
SEEN
