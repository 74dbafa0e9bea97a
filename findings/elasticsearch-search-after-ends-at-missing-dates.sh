#!/usr/bin/env bash
# Guess: a program pages through all posts, newest first, by giving the `sort` of the last hit back as `search_after`; posts without a
# date come last.
# Seen (Elasticsearch 9.4.3): the first post without a date is also the last one. Its sort value is the smallest 64-bit number, which
# JSON.parse of JavaScript, and with it Elastic's own client, rounds: given back it is no date (400). With a `format` for the dates the
# value is null, which Elasticsearch itself does not take back: 500, NullPointerException, also from Python. With `"missing": 0` the
# pages go on. An integer field has no such trouble: its missing value is the smallest 32-bit number.
# Source: run against ELASTICSEARCH_URL (`eval "$(make -s services)"`), by its pinned clients.
set -euo pipefail
: "${ELASTICSEARCH_URL:?set it to the address of an Elasticsearch 9.4.3}"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @elastic/elasticsearch@9.4.3
cat > try.mjs <<'JS'
import { Client } from "@elastic/elasticsearch";
const client = new Client({ node: process.env.ELASTICSEARCH_URL });
const index = `finding-search-after-${process.pid}`;
console.log((await client.info()).version.number);
const properties = { day: { type: "date" }, name: { type: "keyword" }, views: { type: "integer" } };
await client.indices.create({ index, settings: { number_of_replicas: 0 }, mappings: { properties } });
for (const post of [{ name: "rye", day: "2024-01-31", views: 3 }, { name: "oats", day: "2023-06-14", views: 1 }, { name: "a" }, { name: "b" }])
  await client.index({ index, document: post, refresh: true });
const sorts = {
  "newest first": { day: "desc" }, "oldest first": { day: "asc" }, "with a format": { day: { order: "desc", format: "strict_date" } },
  "missing: 0": { day: { order: "desc", missing: 0 } }, "by an integer": { views: "desc" },
};
for (const [name, by] of Object.entries(sorts)) {
  const pages = [];
  let after;
  try {
    for (;;) {
      const { hits: { hits: [hit] } } = await client.search({ index, size: 1, sort: [by, { name: "asc" }], ...(after && { search_after: after }) });
      if (!hit) break;
      after = hit.sort;
      pages.push(`${hit._source.name} ${after[0]}`);
    }
  } catch (error) {
    pages.push(`${error.statusCode} ${error.meta.body.error.root_cause[0].type}`);
  }
  console.log(`${name}:`, pages.join(", "));
}
await client.indices.delete({ index });
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
9.4.3
newest first: rye 1706659200000, oats 1686700800000, a -9223372036854776000, 400 parse_exception
oldest first: oats 1686700800000, rye 1706659200000, a 9223372036854776000, 400 parse_exception
with a format: rye 2024-01-31, oats 2023-06-14, a null, 500 null_pointer_exception
missing: 0: rye 1706659200000, oats 1686700800000, a 0, b 0
by an integer: rye 3, oats 1, a -2147483648, b -2147483648
SEEN
