#!/usr/bin/env bash
# One would guess: the stemmer "italian" of NLTK's SnowballStemmer makes the stems that Snowball makes.
# What happens: where Snowball makes -ente of -enza, NLTK makes -te. dipendenza (dependency) is "dipendt" and no longer found by
# dipendente or dipendenti, differenza not by differente. apparenza (appearance) becomes "appart", which is the stem of appartamento (flat),
# and consulenza (advice) "consult", which is that of consultare (to look up).
# Seen with: nltk 3.10.4, snowballstemmer 3.1.1. Source: the 20,000 most frequent words; of 138 in -enza and -enze 84 have another stem.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet nltk==3.10.4 snowballstemmer==3.1.1
cat > try.py <<'PY'
import snowballstemmer
from nltk.stem.snowball import SnowballStemmer

nltk, snowball = SnowballStemmer("italian"), snowballstemmer.stemmer("italian")
pairs = """dipendenza dipendenti, differenza differente, assistenza assistente, esperienza esperienze, scienza scienze,
apparenza appartamento, consulenza consultare, sofferenza sofferto"""
for pair in pairs.split(","):
    words = pair.split()
    print(*words, "NLTK:", *map(nltk.stem, words), "Snowball:", *snowball.stemWords(words))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
dipendenza dipendenti NLTK: dipendt dipendent Snowball: dipendent dipendent
differenza differente NLTK: differt different Snowball: different different
assistenza assistente NLTK: assistt assistent Snowball: assistent assistent
esperienza esperienze NLTK: esperit esperit Snowball: esperient esperient
scienza scienze NLTK: scienz scienz Snowball: scienz scienz
apparenza appartamento NLTK: appart appart Snowball: apparent appart
consulenza consultare NLTK: consult consult Snowball: consulent consult
sofferenza sofferto NLTK: soffert soffert Snowball: sofferent soffert
SEEN
