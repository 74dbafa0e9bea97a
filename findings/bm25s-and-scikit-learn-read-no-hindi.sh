#!/usr/bin/env bash
# One would guess: the default tokenizers of bm25s and scikit-learn, which take runs of letters of any script, find the words of Hindi or
# Tamil, and a search for what no text has finds nothing.
# What happens: their pattern, \w\w+, is read by Python's re, to which a vowel sign is no letter. It ends the word, and one letter alone is
# none: हिन्दी भाषा (Hindi language), বাংলা ভাষা (Bengali language) and తెలుగు భాష (Telugu language) have no word at all, and नमस्ते is नमस.
# An index of such posts is nearly empty, without a warning, and bm25s answers each search with k texts, in reverse order, with a score of
# 0: "दिल्ली" (Delhi) finds "Rye bread" before the weather in Delhi. Single letters (R, C++) are lost in the same way. The package regex
# counts vowel signs to \w.
# Seen with: bm25s 0.3.16, scikit-learn 1.9.1; regex 2026.11.19. Source: titles in six scripts.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet bm25s==0.3.16 scikit-learn==1.9.1 regex==2026.11.19
cat > try.py <<'PY'
import bm25s, regex
from sklearn.feature_extraction.text import CountVectorizer

analyze = CountVectorizer().build_analyzer()
words_of = regex.compile(r"\w\w+").findall
for text in ("हिन्दी भाषा", "बैंक की किताब", "नमस्ते", "বাংলা ভাষা", "తెలుగు భాష", "தமிழ் மொழி", "русский язык", "C++ and R"):
    words = bm25s.tokenize([text], show_progress=False, return_ids=False)[0]
    print(f"{text}: bm25s {words}, scikit-learn {analyze(text)}, regex {words_of(text)}")
texts = ["दिल्ली का मौसम", "हिन्दी में किताबें", "Rye bread"]
index = bm25s.BM25()
index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
for query in ("दिल्ली", "किताबें", "bread"):
    found, scores = index.retrieve(bm25s.tokenize([query], show_progress=False), k=3, corpus=texts, show_progress=False)
    print(f"{query} finds", [f"{text} {score:.2f}" for text, score in zip(found[0], scores[0])])
PY
venv/bin/python -W ignore try.py 2> /dev/null | tee seen
diff seen - <<'SEEN'
हिन्दी भाषा: bm25s [], scikit-learn [], regex ['हिन्दी', 'भाषा']
बैंक की किताब: bm25s [], scikit-learn [], regex ['बैंक', 'की', 'किताब']
नमस्ते: bm25s ['नमस'], scikit-learn ['नमस'], regex ['नमस्ते']
বাংলা ভাষা: bm25s [], scikit-learn [], regex ['বাংলা', 'ভাষা']
తెలుగు భాష: bm25s [], scikit-learn [], regex ['తెలుగు', 'భాష']
தமிழ் மொழி: bm25s ['தம'], scikit-learn ['தம'], regex ['தமிழ்', 'மொழி']
русский язык: bm25s ['русский', 'язык'], scikit-learn ['русский', 'язык'], regex ['русский', 'язык']
C++ and R: bm25s [], scikit-learn ['and'], regex ['and']
दिल्ली finds ['Rye bread 0.00', 'हिन्दी में किताबें 0.00', 'दिल्ली का मौसम 0.00']
किताबें finds ['Rye bread 0.00', 'हिन्दी में किताबें 0.00', 'दिल्ली का मौसम 0.00']
bread finds ['Rye bread 0.27', 'हिन्दी में किताबें 0.00', 'दिल्ली का मौसम 0.00']
SEEN
