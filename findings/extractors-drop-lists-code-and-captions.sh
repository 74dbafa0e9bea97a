#!/usr/bin/env bash
# One would guess: what finds the text of a page (for a reader's view or an index) keeps all that stands inside its <article>, the
# more so among long paragraphs.
# What happens: each of three drops something else, and says nothing. readability-lxml drops a <ul>, a table or a <div> whose text
# has fewer than 25 characters, which is a list of ingredients, or of three short lines in Japanese. newspaper4k drops notes (`admonition note`,
# `custom-block tip`) and the code of Hugo and Sphinx (`<div class="highlight">`), however long, while it keeps a bare <pre>. It and
# trafilatura drop captions of figures, it and readability-lxml footnotes, the other two lists of links.
# Seen with: readability-lxml 0.9, newspaper4k 0.9.6, trafilatura 2.3.1. Source: 23 elements, each among five paragraphs, and lists and
# tables of 18 to 31 characters.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
for package in readability-lxml==0.9 newspaper4k==0.9.6 trafilatura==2.3.1; do
  venv/bin/pip --disable-pip-version-check install --quiet $package 2> warnings
done
cat > try.py <<'PY'
import logging

import trafilatura
from newspaper import Article
from readability import Document

logging.disable(logging.CRITICAL)
LONG = """<p>The miller starts the stones before sunrise, and the whole valley hears them turning until the evening comes,
and the water is let out, day after day, as long as there is rye.</p>"""
PARTS = {
    "short list": "<ul><li>Barley</li><li>Oats</li><li>Salt</li></ul>",
    "list": "<ul><li>Barley from the northern fields</li><li>Oats from the valley</li></ul>",
    "table": "<table><tr><th>Barley</th><td>500 g</td></tr></table>",
    "code in <pre>": "<pre><code>mill --grain Barley --speed 1000 --output flour</code></pre>",
    "code of Hugo": '<div class="highlight"><pre><code>mill --grain Barley --speed 1000 --output flour</code></pre></div>',
    "note of Sphinx": '<div class="admonition note"><p>Barley and oats are grains of the north, and both grow in this valley.</p></div>',
    "note of VitePress": '<div class="custom-block tip"><p>Barley and oats are grains, and both grow in this valley.</p></div>',
    "footnotes": '<section class="footnotes"><ol><li><p>Barley is a grain that grows in the north, too.</p></li></ol></section>',
    "caption": '<figure><img src="field.png"><figcaption>Barley in the field behind the mill</figcaption></figure>',
    "list of links": '<ul><li><a href="/barley/">Barley from the north</a></li><li><a href="/oats/">Oats from the valley</a></li></ul>',
}


def by_newspaper(page: str) -> str:
    article = Article("https://blog.example.org/rye/")
    article.download(input_html=page)
    article.parse()
    return article.text


READERS = {
    "readability-lxml": lambda page: Document(page).summary(),
    "newspaper4k": by_newspaper,
    "trafilatura": lambda page: trafilatura.extract(page) or "",
}
for reader, read in READERS.items():
    lost = []
    for part, element in PARTS.items():
        article = f"<article><h1>On milling</h1>{LONG * 3}{element}{LONG * 2}</article>"
        page = f'<!doctype html><html lang="en"><head><title>On milling</title></head><body><main>{article}</main></body></html>'
        if "Barley" not in read(page):
            lost.append(part)
    print(f"{reader} drops: {', '.join(lost)}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
readability-lxml drops: short list, table, footnotes, list of links
newspaper4k drops: code of Hugo, note of Sphinx, note of VitePress, footnotes, caption
trafilatura drops: caption, list of links
SEEN
