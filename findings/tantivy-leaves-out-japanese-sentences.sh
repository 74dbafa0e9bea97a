#!/usr/bin/env bash
# One would guess: an index that knows no Japanese finds a sentence of it by the whole sentence at least, and a word of Hindi by
# itself only.
# What happens: Tantivy's default tokenizer ends a word at all that is neither letter nor digit, and leaves out words of 40 bytes or
# more. A Japanese clause of 14 characters is such a word: it is not in the index at all, nor is a long German compound. In Hindi a
# virama ends a word: हिन्दी (Hindi) is two, and दी (gave) finds it.
# Seen with: tantivy 0.27.0 for Python. Source: SimpleTokenizer and RemoveLongFilter of Tantivy, which `default` and `en_stem` have.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet tantivy==0.27.0
cat > try.py <<'PY'
import tantivy

SHORT, LONG = "全文検索を試しました", "日本語の全文検索を試してみました"
COMPOUND = "Rindfleischetikettierungsüberwachungsaufgabe"
schema = tantivy.SchemaBuilder().add_text_field("text", stored=True).build()
index = tantivy.Index(schema)
writer = index.writer(num_threads=1)
for text in (SHORT, LONG, f"Die {COMPOUND} ruht", "हिन्दी"):
    writer.add_document(tantivy.Document(text=text))
writer.commit()
index.reload()
searcher = index.searcher()
for query in (SHORT, LONG, "ruht", COMPOUND, "दी"):
    hits = searcher.search(index.parse_query(query, ["text"])).hits
    found = [searcher.doc(at)["text"][0] for _, at in hits]
    print(f"{query} ({len(query.encode())} bytes):", found)
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
全文検索を試しました (30 bytes): ['全文検索を試しました']
日本語の全文検索を試してみました (48 bytes): []
ruht (4 bytes): ['Die Rindfleischetikettierungsüberwachungsaufgabe ruht']
Rindfleischetikettierungsüberwachungsaufgabe (45 bytes): []
दी (6 bytes): ['हिन्दी']
SEEN
