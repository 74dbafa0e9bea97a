#!/usr/bin/env bash
# One would guess: the full-text search of DuckDB finds the words and numbers of a text as they are typed there, and its list of common words has
# those that say nothing by themselves.
# What happens: it takes out all digits before it ends words: 2026, k8s, 5G and "1.22" are in no index, so that "2026 in review" is not found by
# its year and "Go 1.22" by nothing at all, as go is among the 571 common words, besides use, new, help, welcome and example.
# Straße is not found by strasse, nor Łódź by lodz, while über is by uber. With `ignore` and `stopwords` of one's own they are found.
# Seen with: duckdb 1.5.5, duckdb-extension-fts 1.5.5 (PyPI). Source: 12 titles; the parameters are in its documentation.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet duckdb==1.5.5 duckdb-extension-fts==1.5.5
cat > try.py <<'PY'
from pathlib import Path

import duckdb
import duckdb_extension_fts

TITLES = "2026 in review|k8s on a Pi|Go 1.22|A 5G network|A new example|Help with values|Welcome|Über uns|Straße|Łódź|Running shoes|Привет мир".split("|")
(extension,) = Path(duckdb_extension_fts.__file__).parent.glob("extensions/*/*.duckdb_extension")
database = duckdb.connect()
database.execute(f"LOAD '{extension}'")
database.execute("create table posts (id int, title text)")
database.executemany("insert into posts values (?, ?)", list(enumerate(TITLES)))
for options in ("", r", ignore='[^\p{L}\p{N}]+', stopwords='none'"):
    database.execute(f"pragma create_fts_index('posts', 'id', 'title'{options}, overwrite=1)")
    (count,) = database.execute("select count(*) from fts_main_posts.stopwords").fetchone()
    print(f"{options or 'defaults'}: {count} common words")
    for word in "2026 k8s go 1.22 5g new example help welcome uber strasse lodz run привет".split():
        rows = database.execute("select title from posts where fts_main_posts.match_bm25(id, ?) is not null order by id", [word]).fetchall()
        print(f"  {word}: {', '.join(title for (title,) in rows) or 'nothing'}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
defaults: 571 common words
  2026: nothing
  k8s: nothing
  go: nothing
  1.22: nothing
  5g: nothing
  new: nothing
  example: nothing
  help: nothing
  welcome: nothing
  uber: Über uns
  strasse: nothing
  lodz: nothing
  run: Running shoes
  привет: Привет мир
, ignore='[^\p{L}\p{N}]+', stopwords='none': 0 common words
  2026: 2026 in review
  k8s: k8s on a Pi
  go: Go 1.22
  1.22: Go 1.22
  5g: A 5G network
  new: A new example
  example: A new example
  help: Help with values
  welcome: Welcome
  uber: Über uns
  strasse: nothing
  lodz: nothing
  run: Running shoes
  привет: Привет мир
SEEN
