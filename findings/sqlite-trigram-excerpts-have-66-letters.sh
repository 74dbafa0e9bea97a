#!/usr/bin/env bash
# One would guess: the last number that SQLite's snippet() takes is a number of words, and 64, the highest, makes a paragraph of them.
# What happens: it counts tokens, and with the tokenizer trigram (for Japanese, or parts of words) each letter begins one: 64 make an
# excerpt of 66 letters, cut inside words, and a usual 10 makes twelve letters. There is no way to a longer one, so that
# excerpts have to be made of highlight() instead. Words with fewer than three letters are not found: Go, AI, C#.
# Seen with: SQLite 3.54.1 in apsw 3.54.1.0. Source: one text under two tokenizers.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet apsw==3.54.1.0
cat > try.py <<'PY'
import apsw

TEXT = ("Rye is sown in autumn, when the oats are in the barn and the days are short enough for a long evening of Go by the "
        "fire. The mill grinds the barley first, then the rye, and the flour is carried to the village before the snow comes.")
database = apsw.Connection(":memory:")
print(apsw.sqlite_lib_version())
for tokenizer in ("unicode61", "trigram"):
    database.execute(f"CREATE VIRTUAL TABLE {tokenizer} USING fts5(text, tokenize='{tokenizer}')")
    database.execute(f"INSERT INTO {tokenizer} VALUES (?)", (TEXT,))
    for size in (10, 64):
        asked = f"SELECT snippet({tokenizer}, 0, '[', ']', '…', ?) FROM {tokenizer} WHERE {tokenizer} MATCH 'barley'"
        print(f"{tokenizer}, {size}:", *[text for (text,) in database.execute(asked, (size,))])
    print(f"{tokenizer}, go:", len(list(database.execute(f"SELECT 1 FROM {tokenizer} WHERE {tokenizer} MATCH 'go'"))))
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
3.54.1
unicode61, 10: …The mill grinds the [barley] first, then the rye, and…
unicode61, 64: Rye is sown in autumn, when the oats are in the barn and the days are short enough for a long evening of Go by the fire. The mill grinds the [barley] first, then the rye, and the flour is carried to the village before the snow comes.
unicode61, go: 1
trigram, 10: …he [barley] fi…
trigram, 64: …The mill grinds the [barley] first, then the rye, and the flour is c…
trigram, go: 0
SEEN
