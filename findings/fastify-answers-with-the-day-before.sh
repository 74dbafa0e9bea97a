#!/usr/bin/env bash
# One would guess: a schema for the answers of Fastify (fast-json-stringify) writes what JSON.stringify writes, with the fields that it
# names, and a date as the day that it is.
# What happens: format "date" takes the day in the zone of the server, while new Date("2026-03-04") is midnight in UTC, as is a day read
# from JSON or front matter: west of Greenwich each post is of the day before, and a test on a server in UTC or in Europe does not show it.
# null is 0 for a number and "" for a text unless the schema says `nullable`: a post without views, and one whose views are not known, are
# the same, and a null among tags is an empty tag. 1.9 as an integer is 1.
# Seen with: fastify 5.12.8, fast-json-stringify 7.3.10. Source: one post, asked in three zones of time.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund fastify@5.12.8 fast-json-stringify@7.3.10
cat > try.mjs <<'JS'
import stringify from "fast-json-stringify";
import fastify from "fastify";
const schema = {
  type: "object",
  properties: {
    date: { type: "string", format: "date" }, views: { type: "integer" }, rank: { type: "integer" }, image: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
  },
};
const post = { date: new Date("2026-03-04"), views: null, rank: 1.9, image: null, tags: ["rye", null] };
const app = fastify();
app.get("/", { schema: { response: { 200: schema } } }, () => post);
console.log(process.env.TZ, "fastify", (await app.inject("/")).body);
console.log(process.env.TZ, "fast-json-stringify", stringify(schema)({ date: post.date }), "JSON", JSON.stringify({ date: post.date }));
JS
for zone in America/New_York UTC Asia/Tokyo; do TZ=$zone node try.mjs; done | tee seen
diff seen - <<'SEEN'
America/New_York fastify {"date":"2026-03-03","views":0,"rank":1,"image":"","tags":["rye",""]}
America/New_York fast-json-stringify {"date":"2026-03-03"} JSON {"date":"2026-03-04T00:00:00.000Z"}
UTC fastify {"date":"2026-03-04","views":0,"rank":1,"image":"","tags":["rye",""]}
UTC fast-json-stringify {"date":"2026-03-04"} JSON {"date":"2026-03-04T00:00:00.000Z"}
Asia/Tokyo fastify {"date":"2026-03-04","views":0,"rank":1,"image":"","tags":["rye",""]}
Asia/Tokyo fast-json-stringify {"date":"2026-03-04"} JSON {"date":"2026-03-04T00:00:00.000Z"}
SEEN
