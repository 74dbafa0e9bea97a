#!/usr/bin/env bash
# One would guess: what makes a readable copy of an article keeps its words, and at most moves the tags around them.
# What happens: Defuddle (of Obsidian's Web Clipper) puts a space between text and an element for a link, emphasis, <mark>, <abbr> or
# <kbd>, and behind it, though there is none in the page: "<a>link</a>s" becomes "link s", "Git<b>Hub</b>" "Git Hub", "<em>un</em>able"
# "un able", and a Japanese sentence gets spaces at each link. <code>, <sup>, <sub> and punctuation stay where they are. A
# search in what it made finds neither GitHub nor links, and a phrase only with the spaces.
# Seen with: defuddle 0.19.4, @mozilla/readability 0.6.0. Source: 23 inline elements, each in a sentence.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund defuddle@0.19.4 @mozilla/readability@0.6.0 linkedom@0.18.15
cat > try.mjs <<'JS'
import { Readability } from "@mozilla/readability";
import { Defuddle } from "defuddle/node";
import { parseHTML } from "linkedom";
const long = "<p>The miller starts the stones before sunrise, and the valley hears them turning until the evening comes, day after day.</p>";
const parts = ['Many <a href="/x">link</a>s', "Git<b>Hub</b>", "<em>un</em>able", "<abbr>API</abbr>s", "<mark>run</mark>ning",
  '<a href="/y">検索</a>の話', "<code>int</code>s", "x<sup>2</sup>y", '<a href="/x">Rye</a>, <i>oats</i>.'];
for (const part of parts) {
  const article = `<article><h1>Milling</h1>${long.repeat(4)}<p>Begin ${part} end.</p>${long.repeat(4)}</article>`;
  const page = `<!doctype html><html lang="en"><head><title>Milling</title></head><body>${article}</body></html>`;
  const { content } = await Defuddle(page, "https://blog.example.org/rye/", { markdown: true });
  const text = new Readability(parseHTML(page).document).parse().textContent;
  const made = content.match(/Begin (.*) end/)[1].replace(/\]\([^)]*\)/g, "]");
  console.log(`${part.replace(/ href="..."/, "")}: Defuddle "${made}", Readability "${text.match(/Begin (.*) end/)[1]}"`);
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
Many <a href="/x">link</a>s: Defuddle "Many [link] s", Readability "Many links"
Git<b>Hub</b>: Defuddle "Git **Hub**", Readability "GitHub"
<em>un</em>able: Defuddle "*un* able", Readability "unable"
<abbr>API</abbr>s: Defuddle "API s", Readability "APIs"
<mark>run</mark>ning: Defuddle "==run== ning", Readability "running"
<a href="/y">検索</a>の話: Defuddle "[検索] の話", Readability "検索の話"
<code>int</code>s: Defuddle "`int`s", Readability "ints"
x<sup>2</sup>y: Defuddle "x<sup>2</sup>y", Readability "x2y"
<a href="/x">Rye</a>, <i>oats</i>.: Defuddle "[Rye], *oats*.", Readability "Rye, oats."
SEEN
