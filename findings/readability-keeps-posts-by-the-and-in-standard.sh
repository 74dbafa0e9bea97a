#!/usr/bin/env bash
# One would guess: Readability (Firefox' reader view) finds the text of a post in its <article>, whatever the post is tagged with.
# What happens: WordPress writes tags, categories and format of a post into the class of its <article> (tag-rss, category-community, format-link), and
# Readability takes out what has one of its words in a class: community, comment, header, menu, rss, social, sponsor. A usual post is
# saved by format-standard, as "and", which is in it, is a word that it keeps. One of another format (aside, link, quote, video) is gone, if 500
# characters are left elsewhere on the page: the article is the beginnings of five other posts below it. With fewer it looks once more
# without the rule, and finds the post. Defuddle finds it each time.
# Seen with: @mozilla/readability 0.6.0, jsdom 29.1.1, defuddle 0.19.4. Source: the classes that post_class() of WordPress writes; five tags with two
# formats, with and without other posts below.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @mozilla/readability@0.6.0 jsdom@29.1.1 defuddle@0.19.4
cat > try.mjs <<'JS'
import { Readability } from "@mozilla/readability";
import { Defuddle } from "defuddle/node";
import { JSDOM } from "jsdom";
const POST = "<p>Rye is an old grain that grows on poor soil, and bakers in the north of Europe have made dark bread of it for many centuries.</p>".repeat(6);
const OTHER = "<li><h2>Oats</h2><p>Oats are eaten by horses, and by people as well, as porridge, in cakes, and in bread that keeps for some days, if it is dry.</p></li>";
for (const names of ["format-standard tag-rss", "format-link tag-bread", "format-link tag-rss", "format-link category-community", "format-video tag-social-media", "format-aside tag-http-headers"]) {
  const line = [];
  for (const others of [0, 5]) {
    const html = `<html><head><title>Rye</title></head><body class="single"><main id="primary" class="site-main">
      <article id="post-7" class="post-7 post type-post status-publish hentry ${names}"><h1 class="entry-title">Rye</h1><div class="entry-content">${POST}</div></article>
      <ul class="latest">${OTHER.repeat(others)}</ul></main></body></html>`;
    const page = () => new JSDOM(html, { url: "https://blog.example.org/rye/" }).window.document;
    const found = { Readability: new Readability(page()).parse().textContent, Defuddle: (await Defuddle(page(), "https://blog.example.org/rye/")).content };
    for (const [name, text] of Object.entries(found)) line.push(`${name} ${text.includes("old grain") ? "the post" : "not the post"}${text.includes("horses") ? ", others" : ""}`);
  }
  console.log(`${names}: alone ${line.slice(0, 2).join("; ")}. With other posts below: ${line.slice(2).join("; ")}`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
format-standard tag-rss: alone Readability the post; Defuddle the post. With other posts below: Readability the post, others; Defuddle the post
format-link tag-bread: alone Readability the post; Defuddle the post. With other posts below: Readability the post, others; Defuddle the post
format-link tag-rss: alone Readability the post; Defuddle the post. With other posts below: Readability not the post, others; Defuddle the post
format-link category-community: alone Readability the post; Defuddle the post. With other posts below: Readability not the post, others; Defuddle the post
format-video tag-social-media: alone Readability the post; Defuddle the post. With other posts below: Readability not the post, others; Defuddle the post
format-aside tag-http-headers: alone Readability the post; Defuddle the post. With other posts below: Readability not the post, others; Defuddle the post
SEEN
