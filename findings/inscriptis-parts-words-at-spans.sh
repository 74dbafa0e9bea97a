#!/usr/bin/env bash
# One would guess: inscriptis, which makes text of HTML as a browser displays it, keeps a word together that has a <span> in it, and the
# lines of code.
# What happens: a <span> has spaces around it: a drop cap makes "O nce", highlighted code "pandas . read_csv ( path )", so that neither word
# is found. With <b> or <em> the word stays. In <pre><code>, as Markdown makes it, line feeds become spaces; in a bare <pre> they stay.
# On the other hand a term and its definition (<dt>, <dd>), two <section>s and a <summary> and its text are one word without
# white space between the tags.
# Seen with: inscriptis 2.7.6. Source: 32 pieces of HTML.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet inscriptis==2.7.6
cat > try.py <<'PY'
from inscriptis import get_text

PIECES = """<p><span>O</span>nce upon a time</p>
<p><b>O</b>nce upon a time</p>
<code><span>pandas</span><span>.</span><span>read_csv</span>(<span>path</span>)</code>
<pre>one
  two</pre>
<pre><code>one
  two</code></pre>
<dl><dt>Rye</dt><dd>Bread</dd></dl>
<section>Rye</section><section>Bread</section>
<details><summary>Rye</summary>Bread</details>
<p>Rye</p><p>Bread</p>"""
for piece in PIECES.replace("\n<", "\0<").split("\0"):
    print(f"{piece!r}: {get_text(piece).rstrip()!r}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
'<p><span>O</span>nce upon a time</p>': 'O nce upon a time'
'<p><b>O</b>nce upon a time</p>': 'Once upon a time'
'<code><span>pandas</span><span>.</span><span>read_csv</span>(<span>path</span>)</code>': 'pandas . read_csv ( path )'
'<pre>one\n  two</pre>': 'one\n  two'
'<pre><code>one\n  two</code></pre>': 'one two'
'<dl><dt>Rye</dt><dd>Bread</dd></dl>': 'RyeBread'
'<section>Rye</section><section>Bread</section>': 'RyeBread'
'<details><summary>Rye</summary>Bread</details>': 'RyeBread'
'<p>Rye</p><p>Bread</p>': 'Rye\n\nBread'
SEEN
