#!/usr/bin/env bash
# One would guess: ts_headline marks what the query found in a text: of a phrase only the words side by side, and nothing of what a
# minus excludes.
# What happens: it marks every word that the query has, wherever it stands. "machine learning" in quotes marks each `machine` and each
# `learning`. For `rye -oats or wheat`, which finds a post by its wheat, its oats are marked, and its rye. A text that was not found at
# all is marked, too, so that a page of similar posts looks like one of hits. And the T of "Vec<T>" in plain text is not shown.
# Seen with: PostgreSQL 18.7 in @electric-sql/pglite 0.5.17. Source: queries of one text each.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17
cat > try.mjs <<'JS'
import { PGlite } from "@electric-sql/pglite";
const postgres = new PGlite();
const asked = `SELECT to_tsvector('english', $1) @@ query AS found, ts_headline('english', $1, query, 'StartSel=[, StopSel=]') AS shown
  FROM websearch_to_tsquery('english', $2) AS query`;
const given = {
  '"machine learning"': "A machine for learning. Machine learning on a machine.", "rye -oats or wheat": "Wheat and oats and rye",
  "rye -oats": "Rye and oats", '"rye bread"': "Bread of rye", rye: "A Vec<T> of rye",
};
for (const [query, text] of Object.entries(given)) {
  const { found, shown } = (await postgres.query(asked, [text, query])).rows[0];
  console.log(`${query}: ${found ? "found" : "not found"}, ${shown}`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
"machine learning": found, A [machine] for [learning]. [Machine] [learning] on a [machine].
rye -oats or wheat: found, [Wheat] and [oats] and [rye]
rye -oats: not found, [Rye] and [oats]
"rye bread": not found, [Bread] of [rye]
rye: found, A Vec  of [rye]
SEEN
