#!/usr/bin/env bash
# One would guess: YAKE, which suggests keywords (tags) for a text by how its words are used in it, suggests the word that a short text is about,
# which stands in each of its sentences.
# What happens: what has fewer than three letters cannot be a keyword, nor be a part of one, and a word with a digit or a sign is none either: Go, AI, R,
# C++ and k8s are never suggested, "Go modules" is modules, "C++ compiler" compiler, and what comes first is some other word of the text. A set of
# `stopwords` of one's own does not change it. Docker is found. Tags made in this way lack the topics that blogs on programming are sorted by.
# Seen with: yake 0.7.3. Source: five texts with a word of one to three signs in each sentence, and one with Docker in its place.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet yake==0.7.3
cat > try.py <<'PY'
import yake

TEXT = "{0} 2 has a new router. {0} modules are simple. The {0} team wrote {0} in a year, and {0} is fast. Learn {0}."
for word in ["Docker", "Go", "AI", "R", "C++", "k8s"]:
    for words in (1, 2):
        keywords = yake.KeywordExtractor(n=words, top=5).extract_keywords(TEXT.format(word))
        print(f"{word}, of {words}: {', '.join(keyword for keyword, _ in keywords)}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
Docker, of 1: Docker, router, simple, modules, year
Docker, of 2: Docker, router, Docker modules, Learn Docker, Docker team
Go, of 1: router, simple, modules, year, fast
Go, of 2: router, team wrote, simple, modules, year
AI, of 1: router, simple, modules, year, fast
AI, of 2: router, team wrote, simple, modules, year
R, of 1: router, simple, modules, year, fast
R, of 2: router, team wrote, simple, modules, year
C++, of 1: router, modules, simple, team, year
C++, of 2: router, team wrote, modules, simple, team
k8s, of 1: router, modules, simple, Learn, team
k8s, of 2: router, team wrote, modules, simple, Learn
SEEN
