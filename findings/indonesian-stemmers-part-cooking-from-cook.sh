#!/usr/bin/env bash
# Guess: the stemmers for Indonesian take off the same prefixes, so that a verb with me- or a noun with pe- finds its word, and a
# stemmer with a dictionary (Sastrawi) does no harm to names.
# Seen: m of mem- may be the word's own. Elasticsearch's stemmer makes asak of memasak (to cook), snowballstemmer pasak, and masak is masak
# in both; pemrograman (programming) is rogram, pakaian (clothes) pakai and pakai (wear) paka. masakan (a dish) is masa, as are masalah
# (problem) and masa (time), and kepala (head) is pala (nutmeg). Sastrawi has most of these right, but Berlin is lin, and Bali bal.
# Seen with: Elasticsearch 9.4.3, snowballstemmer 3.1.1, PySastrawi 1.2.0. Source: 85 words. Run against ELASTICSEARCH_URL
# (`eval "$(make -s services)"`).
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet snowballstemmer==3.1.1 elasticsearch==9.4.1 PySastrawi==1.2.0
cat > try.py <<'PY'
import os
import snowballstemmer
from elasticsearch import Elasticsearch
from Sastrawi.Stemmer.StemmerFactory import StemmerFactory

client, sastrawi = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), StemmerFactory().create_stemmer()
WORDS = """masak memasak masakan masalah masa program pemrograman pakai pakaian teliti penelitian kepala pala mencari pencarian
berlin bali""".split()
filters = [{"type": "stemmer", "language": "indonesian"}]
found = client.indices.analyze(tokenizer="whitespace", filter=filters, text=" ".join(WORDS))
lucene = [token["token"] for token in found["tokens"]]
for word, *stems in zip(WORDS, lucene, snowballstemmer.stemmer("indonesian").stemWords(WORDS), map(sastrawi.stem, WORDS)):
    print("{}: Elasticsearch {}, Snowball {}, Sastrawi {}".format(word, *stems))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
masak: Elasticsearch masak, Snowball masak, Sastrawi masak
memasak: Elasticsearch asak, Snowball pasak, Sastrawi masak
masakan: Elasticsearch masa, Snowball masa, Sastrawi masakan
masalah: Elasticsearch masa, Snowball masa, Sastrawi masalah
masa: Elasticsearch masa, Snowball masa, Sastrawi masa
program: Elasticsearch program, Snowball program, Sastrawi program
pemrograman: Elasticsearch rogram, Snowball rogram, Sastrawi pemrograman
pakai: Elasticsearch paka, Snowball paka, Sastrawi pakai
pakaian: Elasticsearch pakai, Snowball pakai, Sastrawi pakai
teliti: Elasticsearch telit, Snowball telit, Sastrawi teliti
penelitian: Elasticsearch teliti, Snowball eliti, Sastrawi teliti
kepala: Elasticsearch pala, Snowball pala, Sastrawi kepala
pala: Elasticsearch pala, Snowball pala, Sastrawi pala
mencari: Elasticsearch cari, Snowball cari, Sastrawi cari
pencarian: Elasticsearch cari, Snowball cari, Sastrawi cari
berlin: Elasticsearch berlin, Snowball berlin, Sastrawi lin
bali: Elasticsearch bali, Snowball bali, Sastrawi bal
SEEN
