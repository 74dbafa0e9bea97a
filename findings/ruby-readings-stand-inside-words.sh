#!/usr/bin/env bash
# One would guess: a converter of HTML to text leaves out <rt>, the small reading above a Japanese or Chinese word, or puts it behind the
# word, as <ruby> has existed since 2001 and is in each browser.
# What happens: six of seven put readings where they stand in the markup, which is behind each character: 検索 (search) becomes
# 検けん索さく, and with <rp>, made for browsers without ruby, 検(けん)索(さく). The word is not in the text any more, however it is cut into
# words. Elasticsearch's html_strip puts each piece on a line of its own. Only Beautiful Soup leaves readings out.
# Seen with: html-to-text 10.0.1, turndown 7.2.5, cheerio 1.2.0, html2text 2025.4.15, inscriptis 2.7.6, markdownify 1.2.3, beautifulsoup4
# 4.15.0. Source: one sentence with ruby, as writers of Japanese blogs mark it up. With ELASTICSEARCH_URL its filter is asked.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund html-to-text@10.0.1 turndown@7.2.5 cheerio@1.2.0
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet html2text==2025.4.15 inscriptis==2.7.6 markdownify==1.2.3 \
  beautifulsoup4==4.15.0
echo '<p>全文<ruby>検<rt>けん</rt>索<rt>さく</rt></ruby>です</p>' > page.html
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import * as cheerio from "cheerio";
import { convert } from "html-to-text";
import Turndown from "turndown";
const html = readFileSync("page.html", "utf8");
console.log("html-to-text", convert(html).trim());
console.log("turndown", new Turndown().turndown(html).trim());
console.log("cheerio", cheerio.load(html)("p").text());
JS
cat > try.py <<'PY'
import json, os, urllib.request
import bs4, html2text, inscriptis, markdownify

html = open("page.html").read()
print("html2text", html2text.html2text(html).strip())
print("inscriptis", inscriptis.get_text(html).strip())
print("markdownify", markdownify.markdownify(html).strip())
print("beautifulsoup4", bs4.BeautifulSoup(html, "html.parser").p.get_text())
if url := os.environ.get("ELASTICSEARCH_URL"):
    body = json.dumps({"tokenizer": "keyword", "char_filter": ["html_strip"], "text": html}).encode()
    asked = urllib.request.Request(f"{url}/_analyze", body, {"Content-Type": "application/json"})
    assert json.load(urllib.request.urlopen(asked))["tokens"][0]["token"].strip() == "全文\n検\nけん\n索\nさく\n\nです"
PY
{ node try.mjs; venv/bin/python try.py; } | tee seen
diff seen - <<'SEEN'
html-to-text 全文検けん索さくです
turndown 全文検けん索さくです
cheerio 全文検けん索さくです
html2text 全文検けん索さくです
inscriptis 全文検けん索さくです
markdownify 全文検けん索さくです
beautifulsoup4 全文検索です
SEEN
