#!/usr/bin/env bash
# One would guess: a converter of HTML to Markdown escapes what Markdown would read as markup, so that the words of a page come back.
# What happens: none of four escapes `<`. "Vec&lt;T&gt;" becomes Vec<T>, which is a tag in Markdown: T is neither shown nor found in a
# blog that moved by one of them (wordpress-export-to-markdown uses Turndown). "1986. A good year" is a list without the 1986 after
# markdownify, and "# sed" a heading after two of them. Of a table markdownify and html2text lose the cell behind one with a bar, and
# node-html-markdown joins the words around a line break ("ryeoats").
# Seen with: turndown 7.2.5, node-html-markdown 2.0.0, markdownify 1.2.3, html2text 2025.4.15; read back with markdown-it-py 4.3.0.
# Source: 55 pieces of HTML there and back.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund turndown@7.2.5 node-html-markdown@2.0.0
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet markdownify==1.2.3 html2text==2025.4.15 markdown-it-py==4.3.0
cat > convert.mjs <<'JS'
import Turndown from "turndown";
import { NodeHtmlMarkdown } from "node-html-markdown";
const pieces = JSON.parse(process.argv[2]);
const turndown = new Turndown();
console.log(JSON.stringify([pieces.map((html) => turndown.turndown(html)), pieces.map((html) => NodeHtmlMarkdown.translate(html))]));
JS
cat > try.py <<'PY'
import html, json, re, subprocess
import html2text, markdownify
from markdown_it import MarkdownIt

PIECES = [
    "<p>A Vec&lt;T&gt; holds it</p>",
    "<p>1986. A good year</p>",
    "<p># sed is run</p>",
    "<table><tr><th>in</th><th>out</th></tr><tr><td>a|b</td><td>rye<br>oats</td></tr></table>",
]
found = subprocess.run(["node", "convert.mjs", json.dumps(PIECES)], capture_output=True, text=True, check=True)
turndown, node = json.loads(found.stdout)
plain = html2text.HTML2Text(bodywidth=0)
results = {
    "turndown": turndown,
    "node-html-markdown": node,
    "markdownify": [markdownify.markdownify(piece) for piece in PIECES],
    "html2text": [plain.handle(piece) for piece in PIECES],
}
reader = MarkdownIt().enable("table")
for name, texts in results.items():
    seen = (re.sub(r"</?(?:p|table|thead|tbody|tr|t[hd]|ol|li|h1|h2|br)\b[^>]*>", " ", reader.render(text)) for text in texts)
    print(f"{name}:", [" ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split()) for text in seen])
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
turndown: ['A Vec holds it', '1986. A good year', '# sed is run', 'in out a|b rye oats']
node-html-markdown: ['A Vec holds it', '1986. A good year', '# sed is run', 'in out a|b ryeoats']
markdownify: ['A Vec holds it', 'A good year', 'sed is run', 'in out a b']
html2text: ['A Vec holds it', '1986. A good year', 'sed is run', 'in out a b oats']
SEEN
