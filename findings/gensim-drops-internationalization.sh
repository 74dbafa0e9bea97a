#!/usr/bin/env bash
# One would guess: gensim's simple_preprocess, with which its tutorials make the words of a text, drops one-letter words and punctuation at most, and
# its stop words are words that say nothing.
# What happens: each word with more than 15 letters is dropped (internationalization, containerization, each longer compound of German), as are
# numbers, and what begins with _; k8s is nothing. Hindi has no word at all, as a vowel sign ends a word for it. Among the 337 words that
# preprocess_string and remove_stopwords take away are computer, system, find, detail, bill, fire, mill, serious and
# interest: "find fire in the computer system" is empty. Related posts and topics made in this way do not know what such posts are about.
# Seen with: gensim 4.4.0. Source: 16 titles; the limit of 15 stands in the signature of simple_preprocess.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet --no-compile gensim==4.4.0
cat > try.py <<'PY'
from gensim.parsing.preprocessing import STOPWORDS, preprocess_string, remove_stopwords
from gensim.utils import simple_preprocess

for title in ["Internationalization of a blog", "Geschwindigkeitsbegrenzung im Netz", "k8s in 2026", "हिन्दी भाषा", "find fire in the computer system"]:
    print(f"{title}: {simple_preprocess(title)} {preprocess_string(title)} {remove_stopwords(title)!r}")
print(len(STOPWORDS), *sorted(STOPWORDS & set("computer system find detail bill fire mill serious interest".split())))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
Internationalization of a blog: ['of', 'blog'] ['internation', 'blog'] 'Internationalization blog'
Geschwindigkeitsbegrenzung im Netz: ['im', 'netz'] ['geschwindigkeitsbegrenzung', 'netz'] 'Geschwindigkeitsbegrenzung im Netz'
k8s in 2026: ['in'] [] 'k8s 2026'
हिन्दी भाषा: [] ['हिन्दी', 'भाषा'] 'हिन्दी भाषा'
find fire in the computer system: ['find', 'fire', 'in', 'the', 'computer', 'system'] [] ''
337 bill computer detail find fire interest mill serious system
SEEN
