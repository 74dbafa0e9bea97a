#!/usr/bin/env bash
# One would guess: a decorator that keeps the answers of a function keeps one for each list of arguments.
# What happens: dogpile.cache and Beaker make the key by joining the arguments with spaces. search("rye bread", "oats") and
# search("rye", "bread oats") are one entry, so that the second visitor gets the hits of the first; 1 and "1", None and "None" are one,
# too. cashews takes None for "", [1, 2] for (1, 2) and 1 for "1". aiocache, Flask-Caching and joblib tell all of these apart, cacheout,
# cachetools and memoization all but True and 1.
# Seen with: dogpile.cache 1.5.0, Beaker 1.14.1, cashews 7.6.0, aiocache 0.12.3, cacheout 0.17.0, Flask-Caching 2.5.1, joblib 1.6.0,
# cachetools 8.0.2, memoization 0.4.0. Source: pairs of calls of one function with a query and a tag.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet dogpile.cache==1.5.0 beaker==1.14.1 cashews==7.6.0 aiocache==0.12.3 \
  cacheout==0.17.0 flask-caching==2.5.1 flask==3.1.3 joblib==1.6.0 cachetools==8.0.2 memoization==0.4.0
cat > try.py <<'PY'
import asyncio
import itertools

import aiocache
import cacheout
import cachetools
import cashews
import flask
import flask_caching
import joblib
import memoization
from beaker.cache import CacheManager
from dogpile.cache import make_region

loop = asyncio.new_event_loop()
numbers = itertools.count()


def waited(decorate):
    def outer(search):
        async def later(query, tag):
            return search(query, tag)
        kept = decorate(later)
        return lambda *words: loop.run_until_complete(kept(*words))
    return outer


cashes = cashews.Cache()
cashes.setup("mem://")
DECORATORS = {
    "dogpile.cache": make_region().configure("dogpile.cache.memory").cache_on_arguments(),
    "Beaker": CacheManager(type="memory").cache("searches"), "cashews": waited(cashes(ttl="1h")), "aiocache": waited(aiocache.cached()),
    "cacheout": cacheout.Cache().memoize(), "joblib": joblib.Memory("kept", verbose=0).cache,
    "Flask-Caching": flask_caching.Cache(flask.Flask("x"), config={"CACHE_TYPE": "SimpleCache"}).memoize(),
    "cachetools": cachetools.cached({}), "memoization": memoization.cached,
}
PAIRS = (
    (("rye bread", "oats"), ("rye", "bread oats")), (("rye", 1), ("rye", "1")), (("rye", None), ("rye", "")),
    (("rye", None), ("rye", "None")), (("rye", True), ("rye", 1)), (("rye", (1, 2)), ("rye", [1, 2])),
)


def search(query, tag):
    return next(numbers)


for name, decorate in DECORATORS.items():
    one = []
    for first, second in PAIRS:
        if name == "cachetools" and isinstance(second[1], list):
            continue  # it takes no lists
        kept, pair = decorate(search), f"{PAIRS.index((first, second))} "  # so that no pair meets another
        if kept(pair + first[0], first[1]) == kept(pair + second[0], second[1]):
            one.append(f"{first} {second}")
    print(f"{name}:", "; ".join(one) or "all apart")
PY
venv/bin/python try.py 2> errors | tee seen
diff seen - <<'SEEN'
dogpile.cache: ('rye bread', 'oats') ('rye', 'bread oats'); ('rye', 1) ('rye', '1'); ('rye', None) ('rye', 'None')
Beaker: ('rye bread', 'oats') ('rye', 'bread oats'); ('rye', 1) ('rye', '1'); ('rye', None) ('rye', 'None')
cashews: ('rye', 1) ('rye', '1'); ('rye', None) ('rye', ''); ('rye', (1, 2)) ('rye', [1, 2])
aiocache: all apart
cacheout: ('rye', True) ('rye', 1)
joblib: all apart
Flask-Caching: all apart
cachetools: ('rye', True) ('rye', 1)
memoization: ('rye', True) ('rye', 1)
SEEN
