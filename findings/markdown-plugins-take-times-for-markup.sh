#!/usr/bin/env bash
# One would guess: a plugin that adds a syntax to Markdown leaves plain sentences alone, as they do not use it.
# What happens: to remark-directive a colon before a letter or digit begins a directive. "At 10:30 now" is "At 10", an empty <div> and
# "now", "9:00am" is 9, and a:b is a: the minutes are neither shown nor in an index made of the tree, and no warning is given.
# markdown-it-attrs takes braces at the end of a paragraph or heading for attributes: "The set {1, 2}" is "The set", with the attributes
# `1,` and `2`. remark-wiki-link makes a link of grid[[i]], and remark-math a formula of what stands between two prices.
# Seen with: remark-directive 4.0.0, remark-wiki-link 2.0.1, remark-math 6.0.0, unified 11.0.5, markdown-it-attrs 5.0.1, markdown-it 15.0.3.
# Source: sentences with a time, a price or code, through each plugin alone.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund unified@11.0.5 remark-parse@11.0.0 remark-rehype@11.1.2 rehype-stringify@10.0.1 \
  remark-directive@4.0.0 remark-wiki-link@2.0.1 remark-math@6.0.0 markdown-it@15.0.3 markdown-it-attrs@5.0.1
cat > try.mjs <<'JS'
import MarkdownIt from "markdown-it";
import attrs from "markdown-it-attrs";
import rehypeStringify from "rehype-stringify";
import directive from "remark-directive";
import math from "remark-math";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import wikiLink from "remark-wiki-link";
import { unified } from "unified";
const remark = (plugin) => (text) => unified().use(remarkParse).use(plugin).use(remarkRehype).use(rehypeStringify).processSync(text);
const it = new MarkdownIt().use(attrs);
const tools = { "remark-directive": remark(directive), "markdown-it-attrs": (text) => it.render(text), "remark-wiki-link": remark(wikiLink), "remark-math": remark(math) };
for (const [name, text] of [
  ["remark-directive", "At 10:30 now, or 9:00am"], ["remark-directive", "The pair a:b and std::vec"], ["remark-directive", "Note: rye is milled"],
  ["markdown-it-attrs", "## The set {1, 2}"], ["markdown-it-attrs", "Print {0} and {name}"], ["remark-wiki-link", "See grid[[i]] here"],
  ["remark-math", "Rye is $5 and oats $3 a bag"],
]) console.log(`${name}: ${text} -> ${String(tools[name](text)).trim()}`);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
remark-directive: At 10:30 now, or 9:00am -> <p>At 10<div></div> now, or 9<div></div></p>
remark-directive: The pair a:b and std::vec -> <p>The pair a<div></div> and std::vec</p>
remark-directive: Note: rye is milled -> <p>Note: rye is milled</p>
markdown-it-attrs: ## The set {1, 2} -> <h2 1,="" 2="">The set</h2>
markdown-it-attrs: Print {0} and {name} -> <p name="">Print {0} and</p>
remark-wiki-link: See grid[[i]] here -> <p>See grid<a class="internal new" href="#/page/i">i</a> here</p>
remark-math: Rye is $5 and oats $3 a bag -> <p>Rye is <code class="language-math math-inline">5 and oats </code>3 a bag</p>
SEEN
