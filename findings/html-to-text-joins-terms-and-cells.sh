#!/usr/bin/env bash
# One would guess: html-to-text, which has a format for each element, puts what a browser shows in two lines or columns in two words.
# What happens: it knows no definition list, no caption, no <menu>, no <address> or <legend>, and reads a table as if it were no table
# unless a selector says `dataTable`. Where a minifier took the white space between the tags, Term and Def are "TermDef", two cells
# "c1c2", a caption is one word with the first cell. A search for whole words finds none of them.
# Seen with: html-to-text 10.0.1; turndown 7.2.5 joins two of these nine only. Source: 20 pieces of HTML.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund html-to-text@10.0.1 turndown@7.2.5
cat > try.mjs <<'JS'
import { convert } from "html-to-text";
import Turndown from "turndown";
const pieces = ["<dl><dt>Term</dt><dd>Def</dd></dl>", "<table><tr><td>c1</td><td>c2</td></tr></table>",
  "<table><caption>Capt</caption><tr><td>c1</td></tr></table>",
  "<figcaption>Capt</figcaption>Text", "<menu><li>One</li><li>Two</li></menu>", "<address>Mill</address>Text",
  "<fieldset><legend>Mill</legend>Text</fieldset>", "<details><summary>Mill</summary>Text</details>", "<ul><li>One</li><li>Two</li></ul>"];
const turndown = new Turndown();
for (const piece of pieces) {
  const [text, markdown] = [convert(piece), turndown.turndown(piece)].map((made) => made.replace(/\s+/g, " ").trim());
  console.log(`${piece}: "${text}", turndown "${markdown}"`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
<dl><dt>Term</dt><dd>Def</dd></dl>: "TermDef", turndown "Term Def"
<table><tr><td>c1</td><td>c2</td></tr></table>: "c1c2", turndown "c1 c2"
<table><caption>Capt</caption><tr><td>c1</td></tr></table>: "Captc1", turndown "Capt c1"
<figcaption>Capt</figcaption>Text: "CaptText", turndown "Capt Text"
<menu><li>One</li><li>Two</li></menu>: "OneTwo", turndown "* One * Two"
<address>Mill</address>Text: "MillText", turndown "Mill Text"
<fieldset><legend>Mill</legend>Text</fieldset>: "MillText", turndown "MillText"
<details><summary>Mill</summary>Text</details>: "MillText", turndown "MillText"
<ul><li>One</li><li>Two</li></ul>: "* One * Two", turndown "* One * Two"
SEEN
