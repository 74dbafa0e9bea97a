#!/usr/bin/env bash
# One would guess: the package sitemap (@astrojs/sitemap is made with it) writes the day of a post as <lastmod>, and
# reads each sitemap that sitemaps.org allows.
# What happens: with lastmodDateOnly it writes the day in UTC of any time: a post of 2026-03-04T00:30:00+02:00 is of 3 March, while its page and
# feed say the fourth. As a reader it knows no <lastmod> of a year or a month, which W3C's dates may be (it warns, and leaves it
# out), though it writes one of 2026-03 as the first of March, and finds no page where the elements have a prefix (sm:url).
# Seen with: sitemap 9.0.1. Source: 11 pages written, 16 sitemaps read.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund sitemap@9.0.1
cat > try.mjs <<'JS'
import { Readable } from "node:stream";
import { parseSitemap, SitemapStream, streamToPromise } from "sitemap";
const pages = ["2026-03-04", "2026-03-04T00:30:00+02:00", "2026-03"].map((lastmod) => ({ url: "/rye/", lastmod }));
for (const lastmodDateOnly of [false, true]) {
  const stream = new SitemapStream({ hostname: "https://blog.example.org", lastmodDateOnly });
  const written = (await streamToPromise(Readable.from(pages).pipe(stream))).toString();
  const days = [...written.matchAll(/<lastmod>(.*?)</g)].map((match) => match[1]);
  console.log("written", lastmodDateOnly ? "with lastmodDateOnly:" : "as it is:", ...days);
}
const schema = "http://www.sitemaps.org/schemas/sitemap/0.9";
const texts = ["2026-03-04", "2026-03", "2026"].map(
  (day) => `<urlset xmlns="${schema}"><url><loc>https://blog.example.org/rye/</loc><lastmod>${day}</lastmod></url></urlset>`);
texts.push(`<sm:urlset xmlns:sm="${schema}"><sm:url><sm:loc>https://blog.example.org/rye/</sm:loc></sm:url></sm:urlset>`);
for (const text of texts) {
  const read = await parseSitemap(Readable.from([text]));
  console.log(`read ${text.replace(/ xmlns(:sm)?="[^"]*"/, "")}:`, ...read.map((page) => `${page.url} ${page.lastmod}`));
}
JS
node try.mjs 2> warnings | tee seen
diff seen - <<'SEEN'
written as it is: 2026-03-04T00:00:00.000Z 2026-03-03T22:30:00.000Z 2026-03-01T00:00:00.000Z
written with lastmodDateOnly: 2026-03-04 2026-03-03 2026-03-01
read <urlset><url><loc>https://blog.example.org/rye/</loc><lastmod>2026-03-04</lastmod></url></urlset>: https://blog.example.org/rye/ 2026-03-04
read <urlset><url><loc>https://blog.example.org/rye/</loc><lastmod>2026-03</lastmod></url></urlset>: https://blog.example.org/rye/ undefined
read <urlset><url><loc>https://blog.example.org/rye/</loc><lastmod>2026</lastmod></url></urlset>: https://blog.example.org/rye/ undefined
unhandled attr sm:urlset xmlns:sm
unhandled text for tag: sm:loc 'https://blog.example.org/rye/'
read <sm:urlset><sm:url><sm:loc>https://blog.example.org/rye/</sm:loc></sm:url></sm:urlset>:
SEEN
