#!/usr/bin/env bash
# One would guess: metascraper's `date` is the day on which a page was published, its `title` that of the page, and its `lang` what <html lang>
# says, as other readers have it.
# What happens: the date of the last change wins, in meta elements and in JSON-LD: a post of 2020 that was corrected yesterday is of yesterday. The
# language is that of og:locale, which themes write as en_US everywhere. Straight quotes become curly ones, in code too: print("rye") is
# print(“rye”), so that a title is not equal to that of the feed. From an author's name it takes out @, and ann@example.org is
# annexample.org. A first <time> anywhere wins over the one in <article>.
# Seen with: metascraper 5.49.24 (with -date, -title, -lang, -author), open-graph-scraper 6.12.0. Source: 38 pages of one or two elements.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts metascraper@5.49.24 metascraper-date@5.49.24 metascraper-title@5.49.24 metascraper-lang@5.49.24 \
  metascraper-author@5.49.24 open-graph-scraper@6.12.0
cat > try.mjs <<'JS'
import metascraper from "metascraper";
import author from "metascraper-author";
import date from "metascraper-date";
import lang from "metascraper-lang";
import title from "metascraper-title";
import ogs from "open-graph-scraper";
const read = metascraper([author(), date(), lang(), title()]);
const post = (data) => `<script type="application/ld+json">${JSON.stringify({ "@context": "https://schema.org", "@type": "BlogPosting", ...data })}</script>`;
const pages = {
  "meta": '<meta property="article:published_time" content="2020-03-04"><meta property="article:modified_time" content="2026-11-29">',
  "JSON-LD": post({ datePublished: "2020-03-04", dateModified: "2026-11-29" }),
  "published only": '<meta property="article:published_time" content="2020-03-04">',
  "time": '<nav><time datetime="2026-11-29">the newest post</time></nav><article><time datetime="2020-03-04">4 March</time></article>',
  "lang": '<html lang="de"><meta property="og:locale" content="en_US">',
  "lang only": '<html lang="de">',
  "quotes": '<title>What print("rye") does</title>',
  "author": '<meta name="author" content="ann@example.org">',
};
for (const [name, html] of Object.entries(pages)) {
  const seen = await read({ html, url: "https://blog.example.org/rye/" });
  const said = Object.entries(seen).filter(([, value]) => value !== null).map(([key, value]) => `${key} ${String(value).replace(/T00:00.*/, "")}`);
  const { result } = await ogs({ html });
  console.log(`${name}: ${said.join(", ")}; open-graph-scraper: ${result.articlePublishedTime ?? result.ogTitle ?? result.author ?? result.ogDate ?? "-"}`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
meta: date 2026-11-29; open-graph-scraper: 2020-03-04
JSON-LD: date 2026-11-29; open-graph-scraper: -
published only: date 2020-03-04; open-graph-scraper: 2020-03-04
time: date 2026-11-29; open-graph-scraper: 2026-11-29
lang: lang en; open-graph-scraper: -
lang only: lang de; open-graph-scraper: -
quotes: title What print(“rye”) does; open-graph-scraper: What print("rye") does
author: author annexample.org; open-graph-scraper: ann@example.org
SEEN
