#!/usr/bin/env bash
# One would guess: a search plugin for Docusaurus finds a post by its words, and leaves out what Docusaurus' own sitemap leaves out.
# What happens: Orama's and docusaurus-lunr-search cut pages at headings and drop what stands before the first one: the beginning of a
# post, and the introduction of a page. `unlisted` pages, which Docusaurus keeps out of lists and sitemap, are found by both.
# A page without headings is kept, by Orama's with its tags as words ("<p>"), and docusaurus-lunr-search makes one word of cells side by
# side. @easyops-cn/docusaurus-search-local has all of the text, and nothing unlisted.
# Seen with: @orama/plugin-docusaurus-v3 3.1.18, docusaurus-lunr-search 3.6.1, @easyops-cn/docusaurus-search-local 0.55.3, Docusaurus 3.10.1.
# Source: the indexes of a site of four pages. (It installs 500 MB.)
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund @docusaurus/core@3.10.1 @docusaurus/plugin-content-blog@3.10.1 @docusaurus/theme-classic@3.10.1 \
  @docusaurus/plugin-sitemap@3.10.1 @docusaurus/plugin-content-docs@3.10.1 react@19.2.0 react-dom@19.2.0 \
  @orama/plugin-docusaurus-v3@3.1.18 docusaurus-lunr-search@3.6.1 @easyops-cn/docusaurus-search-local@0.55.3
cat > docusaurus.config.js <<'JS'
const blog = { routeBasePath: "/", showReadingTime: false, onUntruncatedBlogPosts: "ignore" };
module.exports = {
  title: "Mill", url: "https://blog.example.org", baseUrl: "/", onBrokenLinks: "ignore", themes: ["@docusaurus/theme-classic"],
  plugins: [
    ["@docusaurus/plugin-content-blog", blog], "@docusaurus/plugin-content-docs", "@docusaurus/plugin-sitemap",
    "@orama/plugin-docusaurus-v3", "docusaurus-lunr-search", ["@easyops-cn/docusaurus-search-local", { blogRouteBasePath: "/" }],
  ],
};
JS
mkdir blog docs
printf -- '---\ntitle: Rye\n---\nBarley stands at the beginning.\n\n## Granite\n\nMaize stands below.\n' > blog/2024-01-31-rye.md
printf -- '---\ntitle: Oats\n---\nSpelt stands without a heading.\n' > blog/2024-01-30-oats.md
printf -- '---\ntitle: Hidden\nunlisted: true\n---\nMillet is for those who have the link.\n' > blog/2024-01-29-hidden.md
printf -- '---\ntitle: Mill\n---\nEmmer stands in the introduction.\n\n## Hops\n\n| Einkorn | Teff |\n| --- | --- |\n| Malt | Beer |\n' > docs/mill.md
npx docusaurus build > /dev/null 2>&1
cat > try.cjs <<'JS'
const { readFileSync } = require("node:fs");
const { gunzipSync } = require("node:zlib");
const json = (bytes) => JSON.parse(bytes.toString());
const { searchDocs } = json(readFileSync("build/search-doc.json"));
const indexes = {
  Orama: Object.values(json(gunzipSync(readFileSync("build/orama-search-index-current.json.gz"))).docs.docs).map((part) => part.content),
  "docusaurus-lunr-search": searchDocs.map((part) => part.content),
  "docusaurus-search-local": json(readFileSync("build/search-index.json")).flatMap(({ documents }) => documents.map((part) => part.t)),
};
for (const [name, texts] of Object.entries(indexes)) {
  const words = new Set(texts.join("\n").match(/[A-Za-z]+/g));
  const asked = ["Barley", "Maize", "Spelt", "Millet", "Emmer", "Teff", "TeffMalt", "p"];
  console.log(`${name}:`, asked.map((word) => `${word} ${words.has(word) ? "yes" : "no"}`).join(", "));
}
const sitemap = readFileSync("build/sitemap.xml", "utf8");
console.log("sitemap:", ["rye", "oats", "hidden", "mill"].map((page) => `${page} ${sitemap.includes(`/${page}<`) ? "yes" : "no"}`).join(", "));
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
Orama: Barley no, Maize yes, Spelt yes, Millet yes, Emmer no, Teff yes, TeffMalt no, p yes
docusaurus-lunr-search: Barley no, Maize yes, Spelt yes, Millet yes, Emmer no, Teff no, TeffMalt yes, p no
docusaurus-search-local: Barley yes, Maize yes, Spelt yes, Millet no, Emmer yes, Teff yes, TeffMalt no, p no
sitemap: rye yes, oats yes, hidden no, mill yes
SEEN
