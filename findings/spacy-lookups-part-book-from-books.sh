#!/usr/bin/env bash
# One would guess: spaCy's lemmatizer by lookup, which needs no model but only tables, gives a common noun and its plural one lemma in
# Spanish, Italian and Portuguese.
# What happens: the tables have one entry for each form, and where a verb has the same form, often the verb. The singular is the verb and
# the plural the noun: libro (book) is librar (to free) and libros libro, dato is datar and datos dato, viaje (journey) viajar and viajes
# viaje, so that neither finds the other. So it is with 16 of 43 Spanish nouns of titles, 8 of 15 Italian and 5 of 20 Portuguese ones. cosa
# (thing) is coser (to sew), and para, the word for "for", parir (to give birth). In English best is well, does is doe, and ai have.
# Seen with: spaCy 3.8.18, spacy-lookups-data 1.0.5. Source: singular and plural of nouns of titles.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet spacy==3.8.18 spacy-lookups-data==1.0.5
cat > try.py <<'PY'
import spacy

for language, text in {
    "es": "libro libros dato datos viaje viajes archivo archivos página páginas cosa cosas para",
    "it": "libro libri gioco giochi viaggio viaggi lista liste pagina pagine",
    "pt": "livro livros jogo jogos erro erros página páginas",
    "en": "best does ai posts",
}.items():
    nlp = spacy.blank(language)
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    nlp.initialize()
    print(language, *(f"{token.text}: {token.lemma_}," for token in nlp(text)))
PY
venv/bin/python -W ignore try.py 2> /dev/null | tee seen
diff seen - <<'SEEN'
es libro: librar, libros: libro, dato: datar, datos: dato, viaje: viajar, viajes: viaje, archivo: archivar, archivos: archivo, página: página, páginas: página, cosa: coser, cosas: coser, para: parir,
it libro: librare, libri: libro, gioco: giocare, giochi: gioco, viaggio: viaggiare, viaggi: viaggo, lista: listare, liste: lista, pagina: pagina, pagine: pagina,
pt livro: livrar, livros: livro, jogo: jogar, jogos: jogo, erro: errar, erros: erro, página: página, páginas: página,
en best: well, does: doe, ai: have, posts: post,
SEEN
