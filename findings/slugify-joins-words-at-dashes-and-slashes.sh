#!/usr/bin/env bash
# One would guess: a library that makes addresses of titles ends a word at a dash, a slash or an ellipsis, as at a space.
# What happens: slugify and slug drop what they have no letters for before they look at spaces. "Rye—a history", with the dash as American
# typography sets it, is ryea-history, "and/or" andor, "CI/CD" CICD and "Wait…what" waitwhat, so that no search in addresses finds the
# words. What has a name becomes one word with its neighbours in slugify: R&D is randd, a|b aorb, $5 dollar5. Titles in Japanese or Korean
# have the empty address in slugify, one for all posts, and 5pel5pys6kqe, their bytes in base64, in slug, which reads the consonants of
# Hindi only: हिन्दी is hanatha, and दिन (day) and दान (gift) are both "thana". speakingurl parts the words.
# Seen with: slugify 1.6.9, slug 12.0.1, speakingurl 14.0.1. Source: 35 titles.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund slugify@1.6.9 slug@12.0.1 speakingurl@14.0.1
cat > try.mjs <<'JS'
import slug from "slug";
import slugify from "slugify";
import speakingurl from "speakingurl";
for (const title of ["Rye—a history", "and/or", "CI/CD", "Wait…what", "R&D", "a|b", "$5 bread", "日本語", "한국어", "हिन्दी", "दिन", "दान"])
  console.log(`${title}: slugify ${slugify(title, { lower: true })}, strict ${slugify(title, { lower: true, strict: true })}, slug ${slug(title)}, speakingurl ${speakingurl(title)}`);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
Rye—a history: slugify ryea-history, strict ryea-history, slug ryea-history, speakingurl rye-a-history
and/or: slugify andor, strict andor, slug andor, speakingurl and-or
CI/CD: slugify cicd, strict cicd, slug cicd, speakingurl ci-cd
Wait…what: slugify wait...what, strict waitwhat, slug waitwhat, speakingurl wait-what
R&D: slugify randd, strict randd, slug rd, speakingurl r-and-d
a|b: slugify aorb, strict aorb, slug ab, speakingurl a-or-b
$5 bread: slugify dollar5-bread, strict dollar5-bread, slug 5-bread, speakingurl usd5-bread
日本語: slugify , strict , slug 5pel5pys6kqe, speakingurl 
한국어: slugify , strict , slug 7zwc6rwt7ja0, speakingurl 
हिन्दी: slugify , strict , slug hanatha, speakingurl 
दिन: slugify , strict , slug thana, speakingurl 
दान: slugify , strict , slug thana, speakingurl 
SEEN
