#!/usr/bin/env bash
# One would guess: the title that a parser of HTML gives is a string, so that each serializer writes it, and a cache keeps its few letters.
# What happens: Beautiful Soup's .string, lxml's xpath() and Jinja's Markup give subclasses of str. msgspec, which is made for speed,
# refuses them ("Encoding objects of type NavigableString is unsupported"), orjson as keys of a dict; json, msgpack and cbor2 do not mind.
# pickle keeps the class, and with Beautiful Soup's the whole page that it hangs in: the pickle of a title of three letters
# is larger than the page, in each entry of the cache that has it. get_text(), findtext() and str() give plain strings.
# Seen with: beautifulsoup4 4.15.0, lxml 6.1.3, parsel 1.12.1, markupsafe 3.0.3, msgspec 0.23.0, orjson 3.13.0, msgpack 1.2.4, cbor2 6.1.4.
# Source: the title of a page of 50 short paragraphs, as ten ways give it.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet beautifulsoup4==4.15.0 lxml==6.1.3 parsel==1.12.1 markupsafe==3.0.3 \
  msgspec==0.23.0 orjson==3.13.0 msgpack==1.2.4 cbor2==6.1.4
cat > try.py <<'PY'
import json
import pickle

import cbor2
import lxml.html
import msgpack
import msgspec
import orjson
from bs4 import BeautifulSoup
from markupsafe import Markup
from parsel import Selector

PAGE = "<title>Rye</title><article>" + "<p>Rye and oats.</p>" * 50 + "</article>"
soup, tree = BeautifulSoup(PAGE, "html.parser"), lxml.html.fromstring(PAGE)
titles = {
    "bs4 .string": soup.title.string, "bs4 str(.string)": str(soup.title.string), "bs4 get_text()": soup.title.get_text(),
    "bs4 charset": BeautifulSoup('<meta charset="utf-8">', "html.parser").meta["charset"],
    "lxml xpath(text())": tree.xpath("//title/text()")[0], "lxml xpath(string())": tree.xpath("string(//title)"),
    "lxml findtext": tree.findtext(".//title"), "parsel": Selector(PAGE).css("title::text").get(), "Markup": Markup("Rye"),
}
WRITERS = {
    "json": json.dumps, "orjson": orjson.dumps, "orjson key": lambda value: orjson.dumps({value: 1}),
    "msgspec": msgspec.json.encode, "msgpack": msgpack.packb, "cbor2": cbor2.dumps,
}
for name, title in titles.items():
    refused = []
    for writer, write in WRITERS.items():
        try:
            write(title)
        except TypeError:
            refused.append(writer)
    larger = len(pickle.dumps(title)) > len(PAGE)
    print(f"{name}: {type(title).__name__}, refused by {', '.join(refused) or 'none'}{', pickle larger than the page' * larger}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
bs4 .string: NavigableString, refused by orjson key, msgspec, pickle larger than the page
bs4 str(.string): str, refused by none
bs4 get_text(): str, refused by none
bs4 charset: CharsetMetaAttributeValue, refused by orjson key, msgspec
lxml xpath(text()): _ElementUnicodeResult, refused by orjson key, msgspec
lxml xpath(string()): _ElementUnicodeResult, refused by orjson key, msgspec
lxml findtext: str, refused by none
parsel: str, refused by none
Markup: Markup, refused by orjson key, msgspec
SEEN
