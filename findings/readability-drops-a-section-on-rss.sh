#!/usr/bin/env bash
# One would guess: Readability (Firefox' reader view) and others that find the text of an article keep a section of the article that has a
# heading and two long paragraphs, whatever it is about.
# What happens: docutils, and with it Sphinx, gives each section an id that is made of its heading, and Readability takes out what has a word of
# its list in an id or a class, however long it is: sections on RSS feeds, HTTP headers, menus, related work, comments in code, a community, footers
# or sponsors are gone with all that they say, 18 of 20 on one page. readability-lxml drops 13 of them, trafilatura and Defuddle seven each,
# Resiliparse four. Where the headings have the ids instead, as in most Markdown, Readability keeps all of them.
# Seen with: @mozilla/readability 0.6.0, jsdom 29.1.1, defuddle 0.19.4, readability-lxml 0.9, trafilatura 2.3.1, Resiliparse 2.0.1, docutils 0.22.4.
# Source: Readability's list of unlikely candidates; a page of 20 sections.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet docutils==0.22.4 resiliparse==2.0.1 trafilatura==2.3.1
venv/bin/pip --disable-pip-version-check install --quiet readability-lxml==0.9 lxml_html_clean==0.4.6 2> /dev/null
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @mozilla/readability@0.6.0 jsdom@29.1.1 defuddle@0.19.4
cat > write.py <<'PY'
from docutils.core import publish_string

LONG = "Rye is an old grain that grows on poor soil, and bakers in the north of Europe have made dark and heavy bread of it for many centuries."
text = f"{LONG}\n\n{LONG}\n\n"
for heading in ("Themes", "RSS feeds", "HTTP headers", "Related work", "Comments in code", "Menus", "Community", "Extra flour", "Social history",
                "Sponsors", "Remarks on salt", "Sidebars", "Footers", "Banner ads", "Popups", "Pagination", "Legends of rye", "Replies", "Breadcrumbs", "Flour"):
    text += f"{heading}\n{'-' * len(heading)}\n\nAbout {heading}: {LONG}\n\n{LONG}\n\n"
open("page.html", "wb").write(publish_string(text, writer="html5", settings_overrides={"embed_stylesheet": False, "doctitle_xform": False}))
PY
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { Readability } from "@mozilla/readability";
import { Defuddle } from "defuddle/node";
import { JSDOM } from "jsdom";
const html = readFileSync("page.html", "utf8");
const page = (text) => new JSDOM(text, { url: "https://blog.example.org/" }).window.document;
const headings = [...html.matchAll(/About (.*?):/g)].map((match) => match[1]);
const lost = (text) => headings.filter((heading) => !text.includes(`About ${heading}:`)).join(", ") || "nothing";
console.log("Readability drops", lost(new Readability(page(html)).parse().textContent));
console.log("Defuddle drops", lost((await Defuddle(page(html), "https://blog.example.org/")).content));
console.log("Readability, with the ids in the headings, drops", lost(new Readability(page(html.replace(/<section id="(.*?)">\s*<h(\d)>/g, '<section><h$2 id="$1">'))).parse().textContent));
JS
cat > try.py <<'PY'
import re
import readability, trafilatura
from resiliparse.extract.html2text import extract_plain_text

html = open("page.html").read()
for name, text in {
    "readability-lxml": readability.Document(html).summary(),
    "trafilatura": trafilatura.extract(html),
    "Resiliparse": extract_plain_text(html, main_content=True),
}.items():
    text = " ".join(text.split())
    print(name, "drops", ", ".join(heading for heading in re.findall("About (.*?):", html) if f"About {heading}:" not in text) or "nothing")
PY
venv/bin/python write.py
{ node try.mjs && venv/bin/python -W ignore try.py 2> /dev/null; } | tee seen
diff seen - <<'SEEN'
Readability drops RSS feeds, HTTP headers, Related work, Comments in code, Menus, Community, Extra flour, Social history, Sponsors, Remarks on salt, Sidebars, Footers, Banner ads, Popups, Pagination, Legends of rye, Replies, Breadcrumbs
Defuddle drops HTTP headers, Related work, Comments in code, Menus, Sidebars, Footers, Banner ads
Readability, with the ids in the headings, drops nothing
readability-lxml drops RSS feeds, HTTP headers, Related work, Comments in code, Menus, Community, Extra flour, Sponsors, Remarks on salt, Sidebars, Footers, Popups, Pagination
trafilatura drops Related work, Menus, Social history, Sidebars, Footers, Banner ads, Breadcrumbs
Resiliparse drops Related work, Sidebars, Banner ads, Breadcrumbs
SEEN
