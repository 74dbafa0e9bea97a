#!/usr/bin/env bash
# One would guess: in SQLite's FTS5 `univers*` and each longer beginning of university finds it, so that results stay while one types.
# What happens: with the tokenizer porter a beginning goes through the stemmer like a word, and is compared with the beginnings of stems.
# The stem is univers, so that `universi*` and `universit*` find nothing until the word is complete; running is lost from `runn*` on,
# happiness from `happin*`, installation from `installa*`. A list of results that follows the typing is empty for up to
# four letters. The words as written, in a second table with unicode61, fill the hole.
# Seen with: SQLite 3.54.1 in apsw 3.54.1.0. Source: the beginnings of eight words.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet apsw==3.54.1.0
cat > try.py <<'PY'
import apsw

WORDS = "university running databases installation happiness queries relational mill".split()
database = apsw.Connection(":memory:")
print(apsw.sqlite_lib_version())
for tokenizer in ("porter", "unicode61"):
    database.execute(f"CREATE VIRTUAL TABLE {tokenizer} USING fts5(word, tokenize='{tokenizer}')")
    database.executemany(f"INSERT INTO {tokenizer} VALUES (?)", [(word,) for word in WORDS])
    for word in WORDS:
        lost = [word[:size] for size in range(1, len(word) + 1) if (word,) not in
                list(database.execute(f"SELECT word FROM {tokenizer} WHERE {tokenizer} MATCH ?", (word[:size] + "*",)))]
        print(f"{tokenizer}, {word}: not found by", " ".join(start + "*" for start in lost) or "none")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
3.54.1
porter, university: not found by universi* universit*
porter, running: not found by runn* runni* runnin*
porter, databases: not found by none
porter, installation: not found by installa* installat* installati* installatio*
porter, happiness: not found by happin* happine* happines*
porter, queries: not found by none
porter, relational: not found by relati* relatio* relationa*
porter, mill: not found by none
unicode61, university: not found by none
unicode61, running: not found by none
unicode61, databases: not found by none
unicode61, installation: not found by none
unicode61, happiness: not found by none
unicode61, queries: not found by none
unicode61, relational: not found by none
unicode61, mill: not found by none
SEEN
