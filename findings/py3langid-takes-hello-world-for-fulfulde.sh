#!/usr/bin/env bash
# One would guess: a detector of languages takes a short title, if it errs, for a language close to its own, and "Hello world" for English.
# What happens: py3langid knows so many languages that rare ones win: "Hello world" is Fulfulde (fuv), "Hola mundo" Luganda (lg),
# "Photos from Lisbon" Nigerian Pidgin (pcm), 中文搜索 (Chinese search) Wu (wuu). For most of these no stemmer exists. set_languages with the
# ten or twenty that a site can have makes all but one of them right; "PostgreSQL tuning" is Dutch then.
# Seen with: py3langid 0.4.0. Source: 43 short titles, of which 21 are said to be in such a language.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet py3langid==0.4.0
cat > try.py <<'PY'
import py3langid

TITLES = """Hello world, Hola mundo, Ciao mondo, Bonjour le monde, 中文搜索, Python 3.12 released, PostgreSQL tuning, Git rebase tips,
Baking bread, Photos from Lisbon, Goodbye Twitter, Notes on SQLite, How to bake rye bread"""
for title in TITLES.replace("\n", " ").split(", "):
    any_language = py3langid.classify(title)[0]
    py3langid.set_languages(["en", "de", "fr", "es", "it", "pt", "nl", "ja", "zh"])
    print(f"{title.strip()}: {any_language}, of nine languages {py3langid.classify(title)[0]}")
    py3langid.set_languages(None)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
Hello world: fuv, of nine languages en
Hola mundo: lg, of nine languages es
Ciao mondo: lij, of nine languages it
Bonjour le monde: fr, of nine languages fr
中文搜索: wuu, of nine languages zh
Python 3.12 released: pcm, of nine languages en
PostgreSQL tuning: uz, of nine languages nl
Git rebase tips: la, of nine languages en
Baking bread: tl, of nine languages en
Photos from Lisbon: pcm, of nine languages en
Goodbye Twitter: pcm, of nine languages en
Notes on SQLite: wa, of nine languages en
How to bake rye bread: en, of nine languages en
SEEN
