#!/usr/bin/env bash
# One would guess: PostgreSQL's full-text search finds a word beside a slash, a hyphen or a dot, as one that stands between spaces.
# What happens: its parser, the same for all configurations, takes what has a slash for the path of a file, what has a dot for the
# name of a host, <main> for a tag even in plain text, and a number behind a hyphen for a negative one. TCP does not find "TCP/IP",
# node not "Node.js", nor `covid 19` "COVID-19", which is `covid` and `-19`. 2024 does not find "2020-2024". With a hyphen in the
# query, self-hosted does not find "self hosted". Putting spaces in place of these signs, in posts and queries, mends all of them.
# Seen with: PostgreSQL 18.7 in @electric-sql/pglite 0.5.17. Source: 43 texts with a query each.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17
cat > try.mjs <<'JS'
import { PGlite } from "@electric-sql/pglite";
const texts = {
  "TCP/IP networks": "TCP", "Node.js servers": "node", "After COVID-19": "covid 19", "From 2020-2024": "2024",
  "A self hosted search": "self-hosted", "Write <main> first": "main", "It ended.Begin again": "begin",
};
const postgres = new PGlite();
const asked = `SELECT to_tsvector('english', text) @@ websearch_to_tsquery('english', query) AS english,
  to_tsvector('simple', text) @@ websearch_to_tsquery('simple', query) AS simple,
  to_tsvector('english', translate(text, '/.-<>', '     ')) @@
    websearch_to_tsquery('english', translate(query, '/.-<>', '     ')) AS spaced, to_tsvector('simple', text)::text AS words
  FROM (VALUES ($1::text, $2::text)) AS given (text, query)`;
for (const [text, query] of Object.entries(texts)) {
  const { english, simple, spaced, words } = (await postgres.query(asked, [text, query])).rows[0];
  console.log(`${query} in "${text}": english ${english}, simple ${simple}, with spaces ${spaced}; ${words}`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
TCP in "TCP/IP networks": english false, simple false, with spaces true; 'networks':2 'tcp/ip':1
node in "Node.js servers": english false, simple false, with spaces true; 'node.js':1 'servers':2
covid 19 in "After COVID-19": english false, simple false, with spaces true; '-19':3 'after':1 'covid':2
2024 in "From 2020-2024": english false, simple false, with spaces true; '-2024':3 '2020':2 'from':1
self-hosted in "A self hosted search": english false, simple false, with spaces true; 'a':1 'hosted':3 'search':4 'self':2
main in "Write <main> first": english false, simple false, with spaces true; 'first':2 'write':1
begin in "It ended.Begin again": english false, simple false, with spaces true; 'again':3 'ended.begin':2 'it':1
SEEN
