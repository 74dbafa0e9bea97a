#!/usr/bin/env bash
# One would guess: of a fence's info string (```js copy, ```rust,ignore) only the first word counts, as CommonMark has it, and what
# an implementation does not know it leaves alone.
# What happens: to Python-Markdown (Pelican, MkDocs) such a fence is none, also with pymdownx.superfences, and the code is read as
# Markdown: without an empty line it is inline code without line breaks, and behind one a comment becomes a heading of the page, and
# an entry of each search index that is made of sections.
# Seen with: Markdown 3.11.3, pymdown-extensions 13.1.2, markdown-it-py 4.3.0. Source: fences as Nextra, rustdoc and Docusaurus have them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet markdown==3.11.3 pymdown-extensions==13.1.2 markdown-it-py==4.3.0
cat > try.py <<'PY'
from markdown import markdown
from markdown_it import MarkdownIt

CODE = "npm install\n\n# Then start it\nnpm start"
for info in ("js", "js copy", "rust,ignore", "text/html"):
    text = f"```{info}\n{CODE}\n```\n"
    for name, extensions in (("fenced_code", ["fenced_code"]), ("superfences", ["pymdownx.superfences"])):
        html = markdown(text, extensions=extensions)
        print(f"{info}, {name}:", "code" if "<pre" in html else " ".join(html.split()))
    assert "<pre>" in MarkdownIt().render(text)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
js, fenced_code: code
js, superfences: code
js copy, fenced_code: <p>```js copy npm install</p> <h1>Then start it</h1> <p>npm start ```</p>
js copy, superfences: <p>```js copy npm install</p> <h1>Then start it</h1> <p>npm start ```</p>
rust,ignore, fenced_code: <p>```rust,ignore npm install</p> <h1>Then start it</h1> <p>npm start ```</p>
rust,ignore, superfences: <p>```rust,ignore npm install</p> <h1>Then start it</h1> <p>npm start ```</p>
text/html, fenced_code: <p>```text/html npm install</p> <h1>Then start it</h1> <p>npm start ```</p>
text/html, superfences: <p>```text/html npm install</p> <h1>Then start it</h1> <p>npm start ```</p>
SEEN
