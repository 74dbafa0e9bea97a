#!/usr/bin/env bash
# One would guess: Xapian's QueryParser, set up as its guide for beginners does (a stemmer, STEM_SOME), finds the same for Running and running,
# as terms have no capitals.
# What happens: a word that is typed with a capital is taken for a name, and not stemmed: Running does not find "Runs", and Run, as
# phones write the first word, finds nothing at all, where run finds both. A number with a comma is another one than without (1,000 and 1000),
# v1.22 does not find v1.22.3, nor `snake` snake_case_name, nor `c` C++, while TCP/IP is found by tcp. Words of Japanese are sentences
# unless a flag says otherwise. not, and, or are words, and only NOT, AND, OR operators.
# Seen with: Xapian 1.4.22 (Debian 12). Source: 50 queries of 23 titles. Needs Debian 12 with its package lists (apt-get update), and its python3.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
chmod 755 "$folder"
pins=(python3-xapian@1.4.22-1 libxapian30@1.4.22-1)
apt-get download "${pins[@]/@/=}" > /dev/null 2>&1 # to apt it is libxapian30=1.4.22-1
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$PWD/root/usr/lib/x86_64-linux-gnu PYTHONPATH=$PWD/root/usr/lib/python3/dist-packages
cat > try.py <<'PY'
import xapian

TITLES = ["Runs", "The running man", "1,000 posts", "v1.22.3 is out", "snake_case_name", "C++", "TCP/IP", "全文検索エンジン"]
index = xapian.WritableDatabase("", xapian.DB_BACKEND_INMEMORY)
words, parser, stem = xapian.TermGenerator(), xapian.QueryParser(), xapian.Stem("en")
words.set_stemmer(stem)
parser.set_stemmer(stem)
parser.set_stemming_strategy(parser.STEM_SOME)
for title in TITLES:
    post = xapian.Document()
    post.set_data(title)
    words.set_document(post)
    words.index_text(title)
    index.add_document(post)
search = xapian.Enquire(index)
for asked in ["run", "Run", "running", "Running", "1000", "1,000", "v1.22", "snake", "c", "c++", "tcp", "検索"]:
    search.set_query(parser.parse_query(asked))
    print(f"{asked}: {', '.join(sorted(hit.document.get_data().decode() for hit in search.get_mset(0, 10))) or 'nothing'}")
PY
/usr/bin/python3 try.py | tee seen
diff seen - <<'SEEN'
run: Runs, The running man
Run: nothing
running: Runs, The running man
Running: The running man
1000: nothing
1,000: 1,000 posts
v1.22: nothing
snake: nothing
c: nothing
c++: C++
tcp: TCP/IP
検索: nothing
SEEN
