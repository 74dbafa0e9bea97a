#!/usr/bin/env bash
# One would guess: js-yaml, which generators in JavaScript read front matter with, reads `date: 2026-03-04` as a Date, as it did in versions 3
# and 4.
# What happens: version 5 reads YAML 1.2 and nothing else by default, which has no dates: each date is text. date.getFullYear() fails, and posts
# that were sorted by Date sort by letters, 2026-03-04T09:30:00+01:00 behind 2026-03-04T09:00:00Z, an hour wrong. gray-matter keeps version 3,
# in which 0123 is 83, 1_000 is 1000, and a length of 12:30 is 750: version 4 had left these, and kept the dates. A site that reads
# front matter with one and data files with the other has both. The option `schema: YAML11_SCHEMA` brings the dates back.
# Seen with: js-yaml 5.5.0 and 4.3.2, gray-matter 4.0.3. Source: 40 values of front matter.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund js-yaml@5.5.0 js-yaml-4@npm:js-yaml@4.3.2 gray-matter@4.0.3
cat > try.mjs <<'JS'
import matter from "gray-matter";
import * as five from "js-yaml";
import four from "js-yaml-4";
const text = "day: 2026-03-04\ntime: 2026-03-04T09:30:00+01:00\nid: 0123\nviews: 1_000\nlength: 12:30\nhex: 0x1F\nno: no\n";
const read = { "gray-matter": matter(`---\n${text}---\n`).data, "js-yaml 4": four.load(text), "js-yaml 5": five.load(text) };
const shown = (value) => (value instanceof Date ? `Date ${value.toISOString()}` : JSON.stringify(value));
for (const [name, values] of Object.entries(read)) console.log(`${name}:`, ...Object.entries(values).map(([key, value]) => `${key} ${shown(value)},`));
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
gray-matter: day Date 2026-03-04T00:00:00.000Z, time Date 2026-03-04T08:30:00.000Z, id 83, views 1000, length 750, hex 31, no "no",
js-yaml 4: day Date 2026-03-04T00:00:00.000Z, time Date 2026-03-04T08:30:00.000Z, id 123, views "1_000", length "12:30", hex 31, no "no",
js-yaml 5: day "2026-03-04", time "2026-03-04T09:30:00+01:00", id 123, views "1_000", length "12:30", hex 31, no "no",
SEEN
