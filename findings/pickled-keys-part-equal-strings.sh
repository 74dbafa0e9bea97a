#!/usr/bin/env bash
# One would guess: what a cache keeps under ("en", "en") is found under a tuple that is equal to it.
# What happens: diskcache makes the key of a tuple, or of the arguments of a function, by pickle. A string that stands there
# twice is written once, and then as a reference, but only if both are one object in memory: with an "en" of the source and one from a
# request the key is another. The entry is not found, the work is done again and both are kept, now and then, as nothing in the values tells.
# A function called with the same words by two callers runs twice. joblib, which hashes arguments, writes such strings out.
# Seen with: diskcache 5.6.3, joblib 1.6.0, cachetools 8.0.2. Source: translate(text, from, to) called with equal words.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet diskcache==5.6.3 joblib==1.6.0 cachetools==8.0.2
cat > try.py <<'PY'
import itertools
import json

import cachetools
import diskcache
import joblib

numbers = itertools.count(1)
cache = diskcache.Cache("disk")


def search(query, language, page_language):
    return next(numbers)


once = ("rye", "en", "en")                     # of the source: one "en"
asked = tuple(json.loads('["rye", "en", "en"]'))  # of a request: two
assert once == asked and hash(once) == hash(asked)
cache[once] = "kept"
print("diskcache, get:", cache.get(once), cache.get(asked))
cache[asked] = "kept"
print("diskcache, entries:", len(cache), "for", len({once, asked}), "key")
for name, decorate in (
    ("diskcache", cache.memoize()), ("joblib", joblib.Memory("memory", verbose=0).cache), ("cachetools", cachetools.cached({})),
):
    kept = decorate(search)
    print(f"{name}, a function:", "once" if kept(*once) == kept(*asked) else "twice")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
diskcache, get: kept None
diskcache, entries: 2 for 1 key
diskcache, a function: twice
joblib, a function: once
cachetools, a function: once
SEEN
