#!/usr/bin/env bash
# One would guess: a snippet of a hit is made of what the query matched, or is the beginning of the text, as in Lucene.
# What happens: Tantivy's generator of snippets takes the words that stand in the query. A fuzzy or a regular expression stands for words of
# the index, and more_like_this for those of a post, so that none is left: the snippet of each such hit is the empty text, without
# even the beginning of the post. Whoever adds fuzzy fields to a search gets lists of bare titles, also for queries without an error, since a
# fuzzy field asks for each word fuzzily.
# Seen with: tantivy 0.27.0 for Python. Source: 15 kinds of queries for the same post.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet tantivy==0.27.0
cat > try.py <<'PY'
from tantivy import Document, Index, Query, SchemaBuilder, SnippetGenerator

schema = SchemaBuilder().add_text_field("text", stored=True).build()
index = Index(schema)
writer = index.writer(num_threads=1)
writer.add_document(Document(text="Milling rye and barley with Python"))
writer.commit()
index.reload()
searcher = index.searcher()
fuzzy = {"fuzzy_fields": {"text": (False, 1, True)}}
QUERIES = {
    "python": index.parse_query("python", ["text"]),
    '"rye and barley"': index.parse_query('"rye and barley"', ["text"]),
    "text: IN [rye oats]": index.parse_query("text: IN [rye oats]", ["text"]),
    "python, fuzzy": index.parse_query("python", ["text"], **fuzzy),
    "pyhton, fuzzy": index.parse_query("pyhton", ["text"], **fuzzy),
    "fuzzy_term_query": Query.fuzzy_term_query(schema, "text", "pyton"),
    "regex_query": Query.regex_query(schema, "text", "pyth.*"),
}
for name, query in QUERIES.items():
    generator = SnippetGenerator.create(searcher, query, schema, "text")
    for _, address in searcher.search(query).hits:
        print(f"{name}: {generator.snippet_from_doc(searcher.doc(address)).to_html()!r}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
python: 'Milling rye and barley with <b>Python</b>'
"rye and barley": 'Milling <b>rye</b> <b>and</b> <b>barley</b> with Python'
text: IN [rye oats]: 'Milling <b>rye</b> and barley with Python'
python, fuzzy: ''
pyhton, fuzzy: ''
fuzzy_term_query: ''
regex_query: ''
SEEN
