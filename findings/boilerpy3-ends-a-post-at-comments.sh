#!/usr/bin/env bash
# One would guess: boilerpy3's ArticleExtractor ends an article where the comments of readers begin, and a heading of the article itself is
# part of it, whatever it says.
# What happens: behind the first 60 words or so a block of less than 15 words that begins with "Comments", or says "post a comment", "reader
# views", "please rate this" or "5 comments", ends the article, and all that follows is dropped without a word, however long: a post
# on programming with the heading "Comments in code" has its introduction only. These phrases are English: on a German page the comments
# stay. Of a table with two rows of two cells one cell is gone.
# Seen with: boilerpy3 1.0.7. Source: its filters; 30 pieces of pages, each behind three paragraphs.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet boilerpy3==1.0.7
cat > try.py <<'PY'
from boilerpy3.extractors import ArticleExtractor

LONG = "Rye is an old grain that grows on poor soil, and bakers in the north of Europe have made dark and heavy bread of it for many centuries."
OPENING = f"<p>{LONG}</p>" * 3
TABLE = "<table><tr><td>Rye</td><td>500 g</td></tr><tr><td>Salt</td><td>10 g</td></tr></table>"
for piece in ("<h2>Code in comments</h2>", "<h2>Comments in code</h2>", "<p>Comments should say why.</p>", "<p>It has 5 comments now.</p>", "<p>5 comments</p>",
              "<h2>Post a comment by code</h2>", "<h2>Reader views in Django</h2>", "<p>Please rate this higher.</p>", "<h2>Kommentare</h2>", TABLE):
    html = f"<html><head><title>Rye</title></head><body><article><h1>On rye</h1>{OPENING}{piece}<p>{LONG}</p></article></body></html>"
    lines = ArticleExtractor().get_content(html).replace(LONG, "…").strip().split("\n")
    print(f"{piece}: {' | '.join(lines)}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
<h2>Code in comments</h2>: On rye | … | … | … | Code in comments | …
<h2>Comments in code</h2>: On rye | … | … | …
<p>Comments should say why.</p>: On rye | … | … | …
<p>It has 5 comments now.</p>: On rye | … | … | … | It has 5 comments now. | …
<p>5 comments</p>: On rye | … | … | …
<h2>Post a comment by code</h2>: On rye | … | … | …
<h2>Reader views in Django</h2>: On rye | … | … | …
<p>Please rate this higher.</p>: On rye | … | … | …
<h2>Kommentare</h2>: On rye | … | … | … | Kommentare | …
<table><tr><td>Rye</td><td>500 g</td></tr><tr><td>Salt</td><td>10 g</td></tr></table>: On rye | … | … | … | Rye | Salt | 10 g | …
SEEN
