#!/usr/bin/env bash
# One would guess: Orama's plugin for Docusaurus finds a post by its words, and leaves out what Docusaurus' own sitemap leaves out.
# What happens: it cuts the Markdown at headings and drops what stands before the first one: the beginning of a post, and the
# introduction of a page. A heading that is followed by another one is in the index neither. A page without headings is kept, with its
# tags as words ("<p>"). `unlisted` pages and posts, which Docusaurus keeps out of lists and sitemap, are found.
# Seen with: @orama/plugin-docusaurus-v3 3.1.18, Docusaurus 3.10.1. Source: the index of a site of three posts. (It installs 500 MB.)
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund @docusaurus/core@3.10.1 @docusaurus/plugin-content-blog@3.10.1 @docusaurus/theme-classic@3.10.1 \
  @docusaurus/plugin-sitemap@3.10.1 @docusaurus/plugin-content-docs@3.10.1 @orama/plugin-docusaurus-v3@3.1.18 react@19.2.0 react-dom@19.2.0
cat > docusaurus.config.js <<'JS'
const blog = { routeBasePath: "/", showReadingTime: false, onUntruncatedBlogPosts: "ignore" };
module.exports = {
  title: "Mill", url: "https://blog.example.org", baseUrl: "/", onBrokenLinks: "ignore", themes: ["@docusaurus/theme-classic"],
  plugins: [["@docusaurus/plugin-content-blog", blog], "@docusaurus/plugin-sitemap", "@docusaurus/plugin-content-docs", "@orama/plugin-docusaurus-v3"],
};
JS
mkdir blog docs
printf -- '---\ntitle: Rye\n---\nBarley stands in the summary.\n\n## Granite\n\n### Corn\n\nMaize stands below.\n' > blog/2024-01-31-rye.md
printf -- '---\ntitle: Oats\n---\nSpelt stands without a heading.\n' > blog/2024-01-30-oats.md
printf -- '---\ntitle: Hidden\nunlisted: true\n---\nMillet is for those who have the link.\n' > blog/2024-01-29-hidden.md
printf -- '---\ntitle: Mill\n---\nEmmer stands before the headings.\n\n## Hops\n\nBeer stands below.\n' > docs/mill.md
npx docusaurus build > /dev/null 2>&1
cat > try.cjs <<'JS'
const { readFileSync } = require("node:fs");
const { gunzipSync } = require("node:zlib");
const { docs } = JSON.parse(gunzipSync(readFileSync("build/orama-search-index-current.json.gz")));
const kept = Object.values(docs.docs);
for (const { path, title, content } of kept.sort((one, other) => (one.path < other.path ? -1 : 1))) console.log(path, title, JSON.stringify(content));
const [index, sitemap] = [JSON.stringify(kept), readFileSync("build/sitemap.xml", "utf8")];
for (const word of ["Barley", "Granite", "Maize", "Spelt", "Millet", "Emmer", "Beer"]) console.log(word, index.includes(word) ? "in the index" : "missing");
console.log("hidden in the sitemap:", sitemap.includes("hidden"));
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
/2024/01/29/hidden Hidden "<p>Millet is for those who have the link.</p>\n"
/2024/01/30/oats Oats "<p>Spelt stands without a heading.</p>\n"
/2024/01/31/rye#corn Corn "Maize stands below.\n"
/docs/mill#hops Hops "Beer stands below.\n"
Barley missing
Granite missing
Maize in the index
Spelt in the index
Millet in the index
Emmer missing
Beer in the index
hidden in the sitemap: false
SEEN
