#!/usr/bin/env bash
# One would guess: Orama's highlighter with `strategy: "wholeWordMatch"` marks a word where it stands by itself, in the languages that
# Orama's own stemmers and tokenizer know.
# What happens: a word begins and ends at ASCII letters only. ночь, 検索 and école are never marked, not even alone in their text, café is not,
# and "ber" is marked inside über, "gr" inside größe. C++ and .NET are not marked, as they end or begin with a sign. "partialMatchFullWord"
# does the same. A search that finds a Russian post shows it without marks, or, with "partialMatch", marks parts of words everywhere.
# Seen with: @orama/highlight 0.1.9. Source: 14 texts and words under the three strategies.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @orama/highlight@0.1.9
cat > try.mjs <<'JS'
import { Highlight } from "@orama/highlight";
const texts = { "Ночь и день": "ночь", "検索": "検索", "Le café est là": "café", "Bröt über Nacht": "ber", "größer als": "gr",
  "C++ and .NET": "c++", "run running": "run" };
for (const strategy of ["wholeWordMatch", "partialMatch"]) {
  for (const [text, word] of Object.entries(texts)) {
    const marked = new Highlight({ strategy }).highlight(text, word).HTML;
    console.log(`${strategy}, ${word}:`, marked.replace(/<mark[^>]*>/g, "[").replace(/<\/mark>/g, "]"));
  }
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
wholeWordMatch, ночь: Ночь и день
wholeWordMatch, 検索: 検索
wholeWordMatch, café: Le café est là
wholeWordMatch, ber: Bröt ü[ber] Nacht
wholeWordMatch, gr: [gr]ößer als
wholeWordMatch, c++: C++ and .NET
wholeWordMatch, run: [run] running
partialMatch, ночь: [Ночь] и день
partialMatch, 検索: [検索]
partialMatch, café: Le [café] est là
partialMatch, ber: Bröt ü[ber] Nacht
partialMatch, gr: [gr]ößer als
partialMatch, c++: [C++] and .NET
partialMatch, run: [run] [run]ning
SEEN
