#!/usr/bin/env bash
# Guess: Pagefind, which corrects no typing errors, finds nothing for a word that no page has.
# Seen (Pagefind 1.6.0): where no word begins with it, words match that it begins with. `pythn` finds the page that says `py`,
# and `xqzzwk` the one that says `x`, with that letter marked; a page about `pyproject` it does not find.
# Source: run.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null && npm install --silent --no-audit --no-fund pagefind@1.6.0
mkdir -p site/a site/b
echo '<!doctype html><html lang="en"><title>Packaging</title><main><h1>Packaging</h1><p>All is in the pyproject file.</p></main>' > site/a/index.html
echo '<!doctype html><html lang="en"><title>Music</title><main><h1>Music</h1><p>Turn the knob x. Run it with py.</p></main>' > site/b/index.html
npx pagefind --site site --quiet
cp site/pagefind/pagefind.js pagefind.mjs
cat > try.mjs <<'JS'
import { readFile } from "node:fs/promises";
globalThis.fetch = async (path) => new Response(await readFile("site" + path.split("?")[0]));
const pagefind = await import("./pagefind.mjs");
const seen = {};
for (const q of ["pyproject", "pythn", "xqzzwk", "qqq"]) {
  const { results } = await pagefind.search(q);
  seen[q] = results.length ? (await results[0].data()).url : null;
}
console.log("Pagefind 1.6.0", seen);
const expected = { pyproject: "/a/", pythn: "/b/", xqzzwk: "/b/", qqq: null };
if (JSON.stringify(seen) !== JSON.stringify(expected)) process.exit(1);
JS
node try.mjs
