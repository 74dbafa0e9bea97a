#!/usr/bin/env bash
# One would guess: a lemmatizer, which looks words up in a dictionary, leaves a name or an abbreviation alone that is not in it.
# What happens: to simplemma `ai` is a form of be (as in ain't), and so is AI at the beginning of a sentence, which it looks up in small
# letters: an index of lemmas finds every "is" and "are" for ai, and not the AI of the next sentence. AWS is aw, JS j, CORS corner, CMS
# cm, WAN want; ML is mill, ml "millileter" (so spelt). In French AI is avoir (to have), in Portuguese IA, which is AI there, ir (to go).
# Seen with: simplemma 2.0.0. Source: abbreviations of titles of posts.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet simplemma==2.0.0
cat > try.py <<'PY'
import simplemma

print("AI is here. They are for AI.", simplemma.text_lemmatizer("AI is here. They are for AI.", lang="en"))
for lang, words in {"en": "ai are AI AWS JS CORS CMS WAN ML ml API CSS", "fr": "AI", "pt": "IA"}.items():
    for word in words.split():
        print(lang, word, simplemma.lemmatize(word, lang=lang))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
AI is here. They are for AI. ['be', 'be', 'here', '.', 'they', 'be', 'for', 'AI', '.']
en ai be
en are be
en AI AI
en AWS aw
en JS j
en CORS corner
en CMS cm
en WAN want
en ML mill
en ml millileter
en API API
en CSS CSS
fr AI avoir
pt IA ir
SEEN
