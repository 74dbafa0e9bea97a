#!/usr/bin/env bash
# One would guess: Textile, in which Textpattern, Redmine and old blogs on Rails are written, leaves words in parentheses in the sentence.
# What happens: what stands in parentheses behind three capitals or more is the meaning of an abbreviation, and goes into its `title`: "GET(url)" is GET,
# "COUNT(posts)" COUNT and EXIT(1) EXIT. In a post on SQL or HTTP the arguments are neither shown nor found. A paragraph that begins with "p. 5"
# loses its p., rye[1] links to a footnote that does not exist, 1920x1080 is 1920×1080 and --help —help. COUNT (posts), with a space, stays.
# Seen with: textile 4.0.4 (PyPI); RedCloth 4.3.2, by hand, does the same but for the footnote's address. Source: 32 sentences.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet textile==4.0.4
cat > try.py <<'PY'
import re

from textile import textile

for text in ["GET(url) now", "COUNT(posts) of EXIT(1)", "COUNT (posts)", "to(be)", "p. 5 has it", "rye[1]", "1920x1080", "use --help"]:
    print(f"{text}: {re.sub(r'<[^>]*>', '', textile(text)).strip()}")
print(textile("GET(url)").strip())
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
GET(url) now: GET now
COUNT(posts) of EXIT(1): COUNT of EXIT
COUNT (posts): COUNT (posts)
to(be): to(be)
p. 5 has it: 5 has it
rye[1]: rye1
1920x1080: 1920&#215;1080
use --help: use &#8212;help
<p><acronym title="url"><span class="caps">GET</span></acronym></p>
SEEN
