#!/usr/bin/env bash
# One would guess: mark.js, which marks the words of a query in a page, finds more with `acrossElements` than without, as the option
# lets a match run from one element into the next ("Rye <b>bread</b>").
# What happens: the texts of all elements are joined with nothing between them, paragraphs and cells too. Where whole words are asked for
# (accuracy: "exactly"), the first word of a paragraph and the last one before it are no longer marked, as they are one word,
# unless white space stands between the tags; and a phrase over two paragraphs is marked if it is typed without its space.
# "complementary", which marks the rest of a word with its part, marks both words.
# Seen with: mark.js 8.11.1, jsdom 26.1.0. Source: a query of one word on the same paragraphs, with and without line breaks.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund mark.js@8.11.1 jsdom@26.1.0
cat > try.cjs <<'JS'
const { JSDOM } = require("jsdom");
const { window } = new JSDOM("<body></body>");
for (const name of ["document", "Node", "NodeFilter", "NodeList"]) globalThis[name] = window[name];
globalThis.window = window;
const Mark = require("mark.js");
const tight = "<p>Sow rye</p><p>bread is made</p>";
const loose = "<p>Sow rye</p>\n<p>bread is made</p>";
function show(html, query, options) {
  document.body.innerHTML = html;
  new Mark(document.body).mark(query, options);
  const marked = document.body.innerHTML.replace(/<mark[^>]*>/g, "[").replace(/<\/mark>/g, "]");
  console.log(query, options.accuracy, options.acrossElements ? "across:" : "within:", JSON.stringify(marked));
}
for (const html of [tight, loose]) {
  for (const acrossElements of [false, true]) {
    for (const query of ["rye", "bread"]) show(html, query, { accuracy: "exactly", acrossElements });
  }
}
show(tight, "bread", { accuracy: "complementary", acrossElements: true });
show(tight, "ryebread", { accuracy: "partially", acrossElements: true });
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
rye exactly within: "<p>Sow [rye]</p><p>bread is made</p>"
bread exactly within: "<p>Sow rye</p><p>[bread] is made</p>"
rye exactly across: "<p>Sow rye</p><p>bread is made</p>"
bread exactly across: "<p>Sow rye</p><p>bread is made</p>"
rye exactly within: "<p>Sow [rye]</p>\n<p>bread is made</p>"
bread exactly within: "<p>Sow rye</p>\n<p>[bread] is made</p>"
rye exactly across: "<p>Sow [rye]</p>\n<p>bread is made</p>"
bread exactly across: "<p>Sow rye</p>\n<p>[bread] is made</p>"
bread complementary across: "<p>Sow [rye]</p><p>[bread] is made</p>"
ryebread partially across: "<p>Sow [rye]</p><p>[bread] is made</p>"
SEEN
