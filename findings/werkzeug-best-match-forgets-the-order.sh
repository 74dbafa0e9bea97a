#!/usr/bin/env bash
# Guess: of two media types with the same quality the one that the client names first wins.
# Seen (Werkzeug 3.1.9, November 2026): `best_match` takes the one that the *server* lists first, so that coding agents that send
# "text/markdown, text/html, */*" get HTML from a server that lists HTML first, and Markdown from one that lists it first for every
# browser of "text/html, text/markdown". Only a type that is matched by a wildcard loses against one that is named.
# RFC 9110 (12.5.1) gives no meaning to the order; who wants to honour it has to read the header.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet werkzeug==3.1.9
cat > try.py <<'PY'
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

for sent in ("text/markdown, text/html, */*", "text/html, text/markdown", "text/markdown, */*"):
    accept = parse_accept_header(sent, MIMEAccept)
    html_first = accept.best_match(["text/html", "text/markdown"])
    markdown_first = accept.best_match(["text/markdown", "text/html"])
    print(f"{sent}: {html_first} or {markdown_first}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
text/markdown, text/html, */*: text/html or text/markdown
text/html, text/markdown: text/html or text/markdown
text/markdown, */*: text/markdown or text/markdown
SEEN
