#!/usr/bin/env bash
# Guess: the unified highlighter's `boundary_scanner: sentence` ends a sentence with the signs of UAX 29, or at least with those
# of the language in `boundary_scanner_locale`.
# Seen (Elasticsearch 9.4.3): it is the JDK's BreakIterator, alike in each locale. It knows the Hindi danda and the signs of Japanese,
# but not the Arabic question mark, nor the full stop of Urdu, Armenian, Burmese or Amharic, nor the Greek question mark. A post
# in Urdu is one sentence, so that its excerpts begin and end between any two words.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned client.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet elasticsearch==9.4.1
cat > try.py <<'PY'
import os
from elasticsearch import Elasticsearch

SIGNS = {"en": ".?!", "hi": "।", "ja": "。？！", "ar": "؟", "ur": "۔", "hy": "։", "my": "။", "am": "።", "el": "\u037e;"}
client, index = Elasticsearch(os.environ["ELASTICSEARCH_URL"]), f"finding-sentences-{os.getpid()}"
print(client.info()["version"]["number"])
client.indices.create(index=index, settings={"number_of_replicas": 0})
for locale, signs in SIGNS.items():
    for sign in signs:
        text = f"Αα ββ γγ{sign} Δδ εε word{sign} Ζζ ηη θθ{sign}"
        client.index(index=index, id="x", document={"text": text}, refresh=True)
        field = {"type": "unified", "fragment_size": 12, "boundary_scanner": "sentence", "boundary_scanner_locale": locale}
        found = client.search(index=index, query={"match": {"text": "word"}}, highlight={"fields": {"text": field}})
        (excerpt,) = found["hits"]["hits"][0]["highlight"]["text"]
        print(locale, f"U+{ord(sign):04X}", "ends a sentence" if excerpt.startswith("Δδ") else "ends none")
client.indices.delete(index=index)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
9.4.3
en U+002E ends a sentence
en U+003F ends a sentence
en U+0021 ends a sentence
hi U+0964 ends a sentence
ja U+3002 ends a sentence
ja U+FF1F ends a sentence
ja U+FF01 ends a sentence
ar U+061F ends none
ur U+06D4 ends none
hy U+0589 ends none
my U+104B ends none
am U+1362 ends none
el U+037E ends none
el U+003B ends none
SEEN
