#!/usr/bin/env bash
# One would guess: PyThaiNLP's word_tokenize, which cuts Thai with a dictionary, gives an English name in a Thai sentence as one token, and
# punctuation as tokens of its own.
# What happens: a run of signs that are not Thai goes with the Latin letters in it: ด็อกเกอร์ (Docker), as Thai authors write a name, has the
# token "(Docker)", "Rye" in quotation marks keeps them, "Docker,Compose" is Docker and ",Compose", TCP/IP TCP and "/IP", and R&D R and "&D",
# so that an index of these tokens finds none of them. A number is parted from its letters: k8s is k, 8 and s, GPT-4o "GPT-", 4 and o. An
# accent ends a word: café is caf and é. The Thai around it is cut well. Signs have to be taken out before.
# Seen with: pythainlp 5.4.0, engine newmm. Source: 29 pieces as posts have them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet pythainlp==5.4.0
cat > try.py <<'PY'
from pythainlp import word_tokenize

for text in ['ด็อกเกอร์ (Docker)', '"Rye"', "Docker,Compose", "TCP/IP", "R&D", "ใช้ Node.js", "k8s", "GPT-4o", "café", "2569/2026", "ค้นหาบล็อก"]:
    print(f"{text}: {' | '.join(word_tokenize(text, keep_whitespace=False))}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
ด็อกเกอร์ (Docker): ด็อกเกอร์ | (Docker)
"Rye": "Rye"
Docker,Compose: Docker | ,Compose
TCP/IP: TCP | /IP
R&D: R | &D
ใช้ Node.js: ใช้ | Node | .js
k8s: k | 8 | s
GPT-4o: GPT- | 4 | o
café: caf | é
2569/2026: 2569 | /2026
ค้นหาบล็อก: ค้นหา | บล็อก
SEEN
