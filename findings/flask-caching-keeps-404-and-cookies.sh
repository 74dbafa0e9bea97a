#!/usr/bin/env bash
# One would guess: `@cache.cached()` of Flask-Caching keeps what a shared cache may keep: answers to GET, and no error, cookie, or answer that
# says that it varies.
# What happens: the key is the path alone. A POST gets the answer that a GET left, and its view does not run: a comment sent there is gone
# with status 200. abort(404) is kept like a page, so that a post that was asked for before it was published is missing for
# five minutes more; so is a 500. The Set-Cookie of the first visitor goes to all, and the German page of `Vary: Accept-Language` to the French.
# `query_string=True` keeps queries apart, but sorts them, so that ?tag=a&tag=b and ?tag=b&tag=a are one, and does not look at the method.
# Seen with: Flask-Caching 2.5.1, Flask 3.1.3. Source: six views, each asked twice.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet flask-caching==2.5.1 flask==3.1.3
cat > try.py <<'PY'
import itertools

from flask import Flask, abort, make_response, request
from flask_caching import Cache

app = Flask("blog")
cache, visits = Cache(app, config={"CACHE_TYPE": "SimpleCache"}), itertools.count(1)


@app.route("/comments", methods=["GET", "POST"])
@cache.cached()
def comments():
    return f"{request.method} run"


@app.route("/post")
@cache.cached()
def post():
    return "published" if next(visits) > 1 else abort(404)


@app.route("/broken")
@cache.cached()
def broken():
    return ("ok", 200) if next(visits) > 3 else ("broken", 500)


@app.route("/visitor")
@cache.cached()
def visitor():
    answer = make_response("hello")
    answer.set_cookie("visitor", request.args["name"])
    return answer


@app.route("/language")
@cache.cached()
def language():
    answer = make_response(request.headers["Accept-Language"])
    answer.vary.add("Accept-Language")
    return answer


@app.route("/tags", methods=["GET", "POST"])
@cache.cached(query_string=True)
def tags():
    return f"{request.method} {request.args.getlist('tag')}"


visit = app.test_client()
print("GET, POST:", visit.get("/comments").text, "|", visit.post("/comments", data={"comment": "Thank you!"}).text)
print("404:", visit.get("/post").status_code, "|", visit.get("/post").status_code)
next(visits)
print("500:", visit.get("/broken").status_code, "|", visit.get("/broken").status_code)
print("cookie:", *(app.test_client().get(f"/visitor?name={name}").headers["Set-Cookie"] for name in ("ann", "bob")), sep=" | ")
print("Vary:", *(visit.get("/language", headers={"Accept-Language": code}).text for code in ("de", "fr")), sep=" | ")
print("tags:", visit.get("/tags?tag=a&tag=b").text, "|", visit.get("/tags?tag=b&tag=a").text, "|", visit.post("/tags?tag=a&tag=b").text)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
GET, POST: GET run | GET run
404: 404 | 404
500: 500 | 500
cookie: | visitor=ann; Path=/ | visitor=ann; Path=/
Vary: | de | de
tags: GET ['a', 'b'] | GET ['a', 'b'] | GET ['a', 'b']
SEEN
