#!/usr/bin/env bash
# One would guess: since RFC 9309 says which group of a robots.txt a crawler obeys, and which rule of it, its readers agree on both.
# What happens: to Protego (Scrapy), Python's urllib and robots-txt-guard a group for "blog" is meant for a crawler called blogsearch too,
# as the name begins with it; robots-parser compares the whole name, as the RFC says. Of two groups for one crawler, which are to be
# joined, urllib and robots-txt-guard read the first. Only Protego obeys "Disallow /a" without a colon; to urllib a blank line
# below "User-agent" ends the group, and a%2Fb is a/b. "/*.htm" against "/page" is longer by one sign, which robots-txt-guard does not count.
# Seen with: Protego 0.7.0, urllib.robotparser of Python 3.11, robots-parser 3.0.1, robots-txt-parse 2.0.1 with robots-txt-guard 1.0.2.
# Source: 41 files, asked for 58 addresses, of which 23 are judged differently.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet Protego==0.7.0
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund robots-parser@3.0.1 robots-txt-parse@2.0.1 robots-txt-guard@1.0.2
cat > files.json <<'JSON'
[["User-agent: blog\nDisallow: /a\n", "/a"],
 ["User-agent: blogsearch\nDisallow: /a\n\nUser-agent: blogsearch\nDisallow: /b\n", "/b"],
 ["User-agent: *\n\nDisallow: /a\n", "/a"],
 ["User-agent: *\nDisallow /a\n", "/a"],
 ["User-agent: *\nDisallow: /a%2Fb\n", "/a/b"],
 ["User-agent: *\nDisallow: /~ann\n", "/%7Eann"],
 ["User-agent: *\nAllow: /page\nDisallow: /*.htm\n", "/page.htm"],
 ["User-agent: *\nDisallow: /a\n", "/a"]]
JSON
cat > try.mjs <<'JS'
import { readFileSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import guard from "robots-txt-guard";
import parse from "robots-txt-parse";
import robotsParser from "robots-parser";
const answers = [];
for (const [text, path] of JSON.parse(readFileSync("files.json", "utf8"))) {
  const guarded = guard(await parse(Readable.from([Buffer.from(text)])));
  const parsed = robotsParser("https://blog.example.org/robots.txt", text);
  answers.push([parsed.isAllowed(`https://blog.example.org${path}`, "blogsearch"), guarded.isAllowed("blogsearch", path)]);
}
writeFileSync("answers.json", JSON.stringify(answers));
JS
node try.mjs
cat > try.py <<'PY'
import json
import urllib.robotparser
from protego import Protego

READERS = ("Protego", "urllib", "robots-parser", "robots-txt-guard")
for (text, path), answers in zip(json.load(open("files.json")), json.load(open("answers.json"))):
    url, standard = f"https://blog.example.org{path}", urllib.robotparser.RobotFileParser()
    standard.parse(text.splitlines())
    all_answers = [Protego.parse(text).can_fetch(url, "blogsearch"), standard.can_fetch("blogsearch", url), *answers]
    allowed = [reader for reader, answer in zip(READERS, all_answers) if answer]
    print(f"{text!r}, {path} is allowed to:", ", ".join(allowed) or "none")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
'User-agent: blog\nDisallow: /a\n', /a is allowed to: robots-parser
'User-agent: blogsearch\nDisallow: /a\n\nUser-agent: blogsearch\nDisallow: /b\n', /b is allowed to: urllib, robots-txt-guard
'User-agent: *\n\nDisallow: /a\n', /a is allowed to: urllib
'User-agent: *\nDisallow /a\n', /a is allowed to: urllib, robots-parser, robots-txt-guard
'User-agent: *\nDisallow: /a%2Fb\n', /a/b is allowed to: Protego, robots-parser, robots-txt-guard
'User-agent: *\nDisallow: /~ann\n', /%7Eann is allowed to: robots-parser, robots-txt-guard
'User-agent: *\nAllow: /page\nDisallow: /*.htm\n', /page.htm is allowed to: urllib, robots-txt-guard
'User-agent: *\nDisallow: /a\n', /a is allowed to: none
SEEN
