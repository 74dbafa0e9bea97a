#!/usr/bin/env bash
# One would guess: an index with the defaults finds whole words (`tokenize: "strict"`), so that 2024 finds posts that say 2024, and a
# Hindi word posts that have it.
# What happens: the default encoder cuts numbers after three digits and drops repeated signs, and words may stand anywhere: 2024 is
# 202 and 4, which finds "In 2025 we had 4 stones", and 100 is 10, which finds "version 1.10". In Hindi each vowel sign ends a word,
# under Charset.Exact, too: दान (gift) is द and न, which finds हिन्दी. `new Encoder({ numeric: false, dedupe: false })` mends the numbers.
# Seen with: flexsearch 0.8.212. Source: 13 searches of 17 texts under 8 encoders.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund flexsearch@0.8.212
cat > try.mjs <<'JS'
import { Charset, Encoder, Index } from "flexsearch";
const texts = ["In 2025 we had 4 stones", "Since version 1.10", "हिन्दी में खोज"];
const encoders = { default: undefined, "numeric: false": new Encoder({ numeric: false, dedupe: false }), Exact: Charset.Exact };
for (const [name, encoder] of Object.entries(encoders)) {
  const index = new Index(encoder ? { encoder } : {});
  texts.forEach((text, number) => index.add(number, text));
  for (const query of ["2024", "100", "दान"]) console.log(`${name}, ${query}:`, index.search(query).map((number) => texts[number]));
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
default, 2024: [ 'In 2025 we had 4 stones' ]
default, 100: [ 'Since version 1.10' ]
default, दान: [ 'हिन्दी में खोज' ]
numeric: false, 2024: []
numeric: false, 100: []
numeric: false, दान: [ 'हिन्दी में खोज' ]
Exact, 2024: []
Exact, 100: []
Exact, दान: [ 'हिन्दी में खोज' ]
SEEN
