#!/usr/bin/env bash
# One would guess: goose3, which finds the text of an article, keeps the sentences of the paragraphs that it keeps as they are.
# What happens: it writes a paragraph of its text and of eight inline elements (a, b, em, i, small, span, strong, sup), and drops the words
# of all others in the middle of a sentence: <code>, <kbd>, <samp>, <abbr>, <cite>, <q>, <mark>, <time>, <sub>, <del>, <ins>. "Run <code>make
# test</code> before you push" is "Run before you push", "H<sub>2</sub>O" "H O". Headings, <blockquote> and <pre> inside the article are gone, too.
# A post on programming is found by none of its commands and functions.
# Seen with: goose3 3.1.22. Source: 34 inline elements, each in a sentence among three paragraphs.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet goose3==3.1.22 lxml_html_clean==0.4.6
cat > try.py <<'PY'
from goose3 import Goose

LONG = "Rye is an old grain that grows on poor soil, and bakers in the north of Europe have made dark and heavy bread of it for many centuries."
PIECES = {tag: f"<p>In this sentence the word is <{tag}>granite</{tag}> and a reader of the page can see it as well as all of the others.</p>" for tag in
          "strong em a span sup code kbd samp var abbr dfn cite q mark time data sub del ins s u bdi label".split()}
PIECES["h2"] = "<h2>About granite</h2>"
PIECES["pre"] = "<pre>cut(granite)</pre>"
PIECES["blockquote"] = "<blockquote>The granite is what the miller said to the baker when they met on the road to town.</blockquote>"
goose = Goose()
for tag, piece in PIECES.items():
    html = f"<html lang=en><head><title>Rye</title></head><body><article><p>{LONG}</p><p>{LONG}</p>{piece}<p>{LONG}</p></article></body></html>"
    print(tag, "kept" if "granite" in goose.extract(raw_html=html).cleaned_text else "dropped")
html = html.replace(piece, "<p>Run <code>make test</code> before you push, as the server is slow and the others wait for it, and H<sub>2</sub>O is water.</p>")
print(goose.extract(raw_html=html).cleaned_text.split("\n\n")[2])
PY
venv/bin/python -W ignore try.py 2> /dev/null | tee seen
diff seen - <<'SEEN'
strong kept
em kept
a kept
span kept
sup kept
code dropped
kbd dropped
samp dropped
var dropped
abbr dropped
dfn dropped
cite dropped
q dropped
mark dropped
time dropped
data dropped
sub dropped
del dropped
ins dropped
s dropped
u dropped
bdi dropped
label dropped
h2 dropped
pre dropped
blockquote dropped
Run before you push, as the server is slow and the others wait for it, and H O is water.
SEEN
