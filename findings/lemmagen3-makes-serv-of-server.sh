#!/usr/bin/env bash
# One would guess: lemmagen3, which has lemmas for 19 languages, leaves a word alone that it has not learned, or treats all forms of it alike.
# What happens: rules for endings, learned from a dictionary, are applied to each word, known or not. German Server is Serv and Docker Dock, as if -er were
# an ending; Serversuche stays. Czech web (web) is "wba", its genitive webu "weba", so that neither finds the other, and data is "datum". Italian
# dati (data) and libri (books) are verbs, datare and librare, their singulars nouns. In English kubernetes is "kubernete", js j, and buses "buse",
# while bus is bus. Serbian in its Cyrillic letters is not changed at all: подаци (data) is not податак.
# Seen with: lemmagen3 3.5.2. Source: some 100 words of 16 languages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet lemmagen3==3.5.2
cat > try.py <<'PY'
from lemmagen3 import Lemmatizer

WORDS = {
    "de": "Server Docker Häuser Haus Bücher Buch",
    "cs": "web webu data článku článek",
    "it": "dato dati libro libri",
    "en": "kubernetes js bus buses posts mice",
    "sr": "податак подаци kuća kuće",
}
for language, words in WORDS.items():
    lemmatizer = Lemmatizer(language)
    print(f"{language}: {', '.join(f'{word} {lemmatizer.lemmatize(word)}' for word in words.split())}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
de: Server Serv, Docker Dock, Häuser Haus, Haus Haus, Bücher Buch, Buch Buch
cs: web wba, webu weba, data datum, článku článek, článek článek
it: dato dato, dati datare, libro libro, libri librare
en: kubernetes kubernete, js j, bus bus, buses buse, posts post, mice mouse
sr: податак податак, подаци подаци, kuća kuća, kuće kuća
SEEN
