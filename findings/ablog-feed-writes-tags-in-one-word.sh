#!/usr/bin/env bash
# One would guess: the tags of a post in ABlog's Atom feed are those of the post, and its summary is the beginning of its text.
# What happens: the term of a tag has lost its spaces and is another word: "Rye Bread" is RyeBread, and whoever reads `term` (the label,
# which keeps them, is optional in Atom, and many readers have the term only) lists a tag that the blog does not have, and finds no bread.
# The paragraphs of a summary are joined with nothing between them: "One.Two." And the page of the tags C++ and C# is one page,
# which sphinx-sitemap lists twice, with the list of drafts.
# Seen with: ABlog 0.11.13, sphinx-sitemap 2.9.0, Sphinx 9.0.4; read with feedparser 6.0.14. Source: the feed and the sitemap of one post.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet Sphinx==9.0.4 ablog==0.11.13 sphinx-sitemap==2.9.0 feedparser==6.0.14
cat > conf.py <<'PY'
project = blog_title = "Mill"
extensions = ["ablog", "sphinx_sitemap"]
blog_baseurl = html_baseurl = "https://blog.example.org/"
sitemap_url_scheme = "{link}"
PY
printf 'Mill\n====\n\n.. toctree::\n\n   rye\n' > index.rst
cat > rye.rst <<'RST'
.. post:: 4 Mar, 2026
   :tags: Rye Bread, C++, C#
   :excerpt: 2

Rye
===

Sown in autumn.

Milled in summer.
RST
venv/bin/sphinx-build -q . out 2> warnings
cat > read.py <<'PY'
import re
import feedparser

(entry,) = feedparser.parse("out/blog/atom.xml").entries
print("terms: ", sorted(tag.term for tag in entry.tags))
print("labels:", sorted(tag.label for tag in entry.tags))
print("summary:", entry.summary)
pages = re.findall("<loc>https://blog.example.org/(.*?)</loc>", open("out/sitemap.xml").read())
print("sitemap:", *sorted(page for page in pages if "tag/" in page or "drafts" in page))
PY
venv/bin/python read.py | tee seen
diff seen - <<'SEEN'
terms:  ['C#', 'C++', 'RyeBread']
labels: ['C#', 'C++', 'Rye Bread']
summary: Sown in autumn.Milled in summer.
sitemap: blog/drafts.html blog/tag/c.html blog/tag/c.html blog/tag/rye-bread.html
SEEN
