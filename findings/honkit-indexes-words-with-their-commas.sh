#!/usr/bin/env bash
# One would guess: the search of a HonKit book, which stems words with lunr, finds a word wherever it stands in a sentence.
# What happens: its plugin takes lunr's trimmer away so that `C++` can be found. What is indexed are "making," and "(granite)": no
# stemmer knows the one, and nothing that one types begins with the bracket of the other. A word before a comma is found only if
# its stem happens to be its beginning. The option ignoreSpecialCharacters, which sounds harmful, mends it.
# Seen with: HonKit 6.1.7 (gitbook-plugin-lunr 1.2.0, lunr 0.5.12). Source: search_index.json of a book, loaded as its page does.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund honkit@6.1.7 gitbook-plugin-lunr@1.2.0 lunr@0.5.12
mkdir book
printf '# Mill\n\nAfter making, the stones (granite) cool, and the sieve is shaken.\n' > book/README.md
printf '# Summary\n\n* [Mill](README.md)\n' > book/SUMMARY.md
cat > try.cjs <<'JS'
const lunr = require("lunr");
const index = lunr.Index.load(require(process.argv[2] + "/search_index.json").index);
const words = ["stones", "making", "granite", "shaken"];
console.log(words.map((word) => `${word}: ${index.search(word).length}`).join(", "));
JS
npx honkit build book "$PWD/plain" --log=error > log.txt
node try.cjs ./plain | tee seen
echo '{ "pluginsConfig": { "lunr": { "ignoreSpecialCharacters": true } } }' > book/book.json
npx honkit build book "$PWD/trimmed" --log=error > log.txt
node try.cjs ./trimmed | tee -a seen
diff seen - <<'SEEN'
stones: 1, making: 0, granite: 0, shaken: 1
stones: 1, making: 1, granite: 1, shaken: 1
SEEN
