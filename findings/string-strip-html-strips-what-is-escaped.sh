#!/usr/bin/env bash
# One would guess: what strips the tags of HTML leaves what is text there: "Write &lt;main&gt;" is a sentence about an element.
# What happens: string-strip-html decodes entities first and takes the tags that come of it for tags. Posts about HTML or about
# types lose just the words that they are about: "&lt;main&gt;" and the T of "Vec&lt;T&gt;" are gone, and an index made of its results
# finds neither. With `skipHtmlDecoding` they stay, still escaped.
# Seen with: string-strip-html 13.7.6, html-to-text 10.0.1. Source: 17 pieces of HTML under four libraries.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund string-strip-html@13.7.6 html-to-text@10.0.1
cat > try.mjs <<'JS'
import { stripHtml } from "string-strip-html";
import { convert } from "html-to-text";
const html = "<p>Write &lt;main&gt; once, and Vec&lt;T&gt; twice.</p>";
console.log("html-to-text:", convert(html));
console.log("string-strip-html:", stripHtml(html).result);
console.log("skipHtmlDecoding:", stripHtml(html, { skipHtmlDecoding: true }).result);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
html-to-text: Write <main> once, and Vec<T> twice.
string-strip-html: Write once, and Vec twice.
skipHtmlDecoding: Write &lt;main&gt; once, and Vec&lt;T&gt; twice.
SEEN
