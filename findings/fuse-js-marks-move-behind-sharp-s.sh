#!/usr/bin/env bash
# One would guess: with ignoreDiacritics Fuse.js finds Straße by strasse and crème by creme, and the `indices` of a match are those of the text.
# What happens: they are those of the text as it was compared, in which ß is ss, and an accent that is a sign of its own (NFD, as files
# of macOS have it) is gone. Each ß before the word moves its mark one letter to the right ("ats" of "oats"), each such accent one to the
# left, into the word before. æ, ø, œ and ł do no harm, as one letter stays one, or they are not replaced. @nozbe/microfuzz and fuzzysort,
# which also find words without their accents, mark the word each time.
# Seen with: fuse.js 7.5.0, @nozbe/microfuzz 1.0.0, fuzzysort 4.0.2. Source: titles with a word to find behind such letters.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund fuse.js@7.5.0 @nozbe/microfuzz@1.0.0 fuzzysort@4.0.2
cat > try.mjs <<'JS'
import Fuse from "fuse.js";
import fuzzysort from "fuzzysort";
import microfuzz from "@nozbe/microfuzz";
const titles = ["Rye and oats", "Straße and oats", "Große Straße, oats", "Ærø, Smørrebrød, œuvre, Łódź, oats", "Cre\u0300me bru\u0302le\u0301e, oats"];
const cut = (text, indices) => indices.map(([from, to]) => text.slice(from, to + 1)).join("+");
for (const title of titles) {
  const fuse = new Fuse([title], { ignoreDiacritics: true, includeMatches: true, ignoreLocation: true, minMatchCharLength: 3 }).search("oats")[0].matches[0].indices;
  const micro = (microfuzz.default ?? microfuzz)([title])("oats")[0].matches[0];
  const sort = fuzzysort.single("oats", title).highlight((match) => match).filter((part, number) => number % 2).join("+");
  console.log(`${title.normalize("NFC")}: Fuse ${cut(title, fuse)}, microfuzz ${cut(title, micro)}, fuzzysort ${sort}`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
Rye and oats: Fuse oats, microfuzz oats, fuzzysort oats
Straße and oats: Fuse ats, microfuzz oats, fuzzysort oats
Große Straße, oats: Fuse ts, microfuzz oats, fuzzysort oats
Ærø, Smørrebrød, œuvre, Łódź, oats: Fuse oats, microfuzz oats, fuzzysort oats
Crème brûlée, oats: Fuse e, o, microfuzz oats, fuzzysort oats
SEEN
