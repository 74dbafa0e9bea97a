#!/usr/bin/env bash
# One would guess: Typst's export to HTML keeps all text of a document, and loses at most how it looks.
# What happens: a layout goes with all that it holds. The text in align, grid, columns, pad, stack, rect, place and rotate is not in the HTML:
# "#align(center)[A poem]" is nothing, and a figure with a grid is its caption. `set align(center)` for the rest of a page keeps its text. In
# Python compile() says nothing of it; compile_with_warnings() has "align was ignored". "= Rye" is an <h2>, as <h1> is for title(), so that who
# takes the first <h1> for the title finds none. Variables of formulas are other signs (𝐸 for E), which no search for E finds.
# Seen with: typst 0.15.2 (PyPI). Source: 60 pieces of markup; Typst says that this export is incomplete.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet typst==0.15.2
cat > try.py <<'PY'
import re
from pathlib import Path
import typst

for text in ("#align(center)[A poem]", "#set align(center)\nA poem", "#grid(columns: 2, [Rye], [500 g])", "#table(columns: 2, [Rye], [500 g])", "#columns(2)[A poem]",
             "#pad(1cm)[A poem]", "#rect[A note]", "#block[A note]", "#figure(grid(columns: 2, [Rye], [Oats]), caption: [Two])", "= Rye\nOats", "Energy $E = m c$"):
    Path("post.typ").write_text(text)
    html, warnings = typst.compile_with_warnings("post.typ", format="html")
    body = re.search("<body>(.*)</body>", html.decode(), re.DOTALL).group(1)
    print(f"{text!r}: {body or 'nothing'}", *(warning.message for warning in warnings if "ignored" in warning.message), sep="; ")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
'#align(center)[A poem]': nothing; align was ignored during HTML export
'#set align(center)\nA poem': <p>A poem</p>
'#grid(columns: 2, [Rye], [500 g])': nothing; grid was ignored during HTML export
'#table(columns: 2, [Rye], [500 g])': <table><tr><td>Rye</td><td>500 g</td></tr></table>
'#columns(2)[A poem]': nothing; columns was ignored during HTML export
'#pad(1cm)[A poem]': nothing; pad was ignored during HTML export
'#rect[A note]': nothing; rect was ignored during HTML export
'#block[A note]': <div>A note</div>
'#figure(grid(columns: 2, [Rye], [Oats]), caption: [Two])': <figure><figcaption>Figure 1: Two</figcaption></figure>; grid was ignored during HTML export
'= Rye\nOats': <h2>Rye</h2><p>Oats</p>
'Energy $E = m c$': <p>Energy <math><mi>𝐸</mi><mo>=</mo><mi>𝑚</mi><mi>𝑐</mi></math></p>
SEEN
