#!/usr/bin/env bash
# One would guess: a stemmer for English leaves numbers, and words that end in a digit, as they are.
# What happens: wink-porter2-stemmer (in winkNLP and wink-bm25-text-search) writes 3 for a y that is a consonant while it works, and turns
# each 3 back into y at the end, also one that was there, where a y behind a consonant becomes i first: 2023 is 202i, 1933 19yi, 2024-03-04
# 2024-0y-04. mp3 and MPI are one word (mpi), and so are k3s and kys, d3.js and dy.js. In a list of words made of an index the year 2023 is
# missing. Snowball leaves all of them alone.
# Seen with: wink-porter2-stemmer 2.0.1, wink-nlp 2.4.0 with wink-eng-lite-web-model 1.8.1, wink-bm25-text-search 3.1.2 with wink-nlp-utils
# 2.1.0; snowball-stemmers 0.6.0.
# Source: 25 words with digits, and a search.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund wink-porter2-stemmer@2.0.1 wink-nlp@2.4.0 wink-eng-lite-web-model@1.8.1 \
  wink-bm25-text-search@3.1.2 wink-nlp-utils@2.1.0 snowball-stemmers@0.6.0
cat > try.mjs <<'JS'
import snowball from "snowball-stemmers";
import bm25 from "wink-bm25-text-search";
import model from "wink-eng-lite-web-model";
import winkNLP from "wink-nlp";
import utils from "wink-nlp-utils";
import stem from "wink-porter2-stemmer";
const nlp = winkNLP(model);
const english = snowball.newStemmer("english");
for (const word of ["2023", "1933", "2024-03-04", "mp3", "mpi", "css3", "k3s", "2022"])
  console.log(`${word}: wink ${stem(word)}, winkNLP ${nlp.readDoc(word).tokens().out(nlp.its.stem).join(" ")}, Snowball ${english.stem(word)}`);
const engine = bm25();
engine.defineConfig({ fldWeights: { title: 1 } });
engine.definePrepTasks([utils.string.lowerCase, utils.string.tokenize0, utils.tokens.stem]);
["A player of MP3 files", "Many processes with MPI", "Rye bread"].forEach((title, id) => engine.addDoc({ title }, id));
engine.consolidate();
console.log("mp3 finds", engine.search("mp3").map(([id]) => id).sort().join(" and "));
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
2023: wink 202i, winkNLP 202i, Snowball 2023
1933: wink 19yi, winkNLP 19yi, Snowball 1933
2024-03-04: wink 2024-0y-04, winkNLP 2024-0y-04, Snowball 2024-03-04
mp3: wink mpi, winkNLP mpi, Snowball mp3
mpi: wink mpi, winkNLP mpi, Snowball mpi
css3: wink cssi, winkNLP cssi, Snowball css3
k3s: wink kys, winkNLP kys, Snowball k3s
2022: wink 2022, winkNLP 2022, Snowball 2022
mp3 finds 0 and 1
SEEN
