#!/usr/bin/env bash
# One would guess: a minifier of HTML may fold white space, but leaves one space between two words that a reader sees apart.
# What happens: minify-html (of Zola) takes all of it out between two inline elements in <div>, <nav>, <article>, <section>, <main>,
# <footer> or <blockquote>, whatever text stands beside them: the tags "rye oats" of a post are "ryeoats", "<b>Ann</b> <i>Mill</i>" is one
# word, for readers and each index that is made of the site. In <p>, <li> and headings it stays. html-minifier-terser with
# collapseWhitespace, as Eleventy's documentation has it, takes it out around each element that it does not know as inline: <data>,
# <output>, <picture>, <meter> and all custom elements, in the middle of a sentence ("by<relative-time>2 March</relative-time>in Rome"), and
# where a comment stood between two links. tdewolff/minify (of Hugo) does neither.
# Seen with: minify-html 0.18.1, html-minifier-terser 7.2.0, github.com/tdewolff/minify v2.24.25. Source: 50 elements in a sentence, 18
# pieces of pages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet minify-html==0.18.1
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund html-minifier-terser@7.2.0
go mod init try 2> /dev/null
pin=github.com/tdewolff/minify/v2@2.24.25
go get "${pin/@/@v}" 2> /dev/null # to Go it is v2.24.25
cat > pieces <<'HTML'
<div class="tags"><a>rye</a> <a>oats</a></div>
<blockquote>said <b>Ann</b> <i>Mill</i> then</blockquote>
<li><a>rye</a> <a>oats</a></li>
<p>by <relative-time>2 March</relative-time> in Rome</p>
<p>about <data value="5">five</data> bags</p>
<p><a>rye</a> <!-- and --> <a>oats</a></p>
HTML
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { minify } from "html-minifier-terser";
for (const html of readFileSync("pieces", "utf8").trim().split("\n"))
  console.log("html-minifier-terser", await minify(html, { collapseWhitespace: true, removeComments: true }));
JS
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/html"
)

func main() {
	pieces, err := os.ReadFile("pieces")
	if err != nil {
		panic(err)
	}
	minifier := minify.New()
	minifier.AddFunc("text/html", html.Minify)
	for _, piece := range strings.Split(strings.TrimSpace(string(pieces)), "\n") {
		short, err := minifier.String("text/html", piece)
		if err != nil {
			panic(err)
		}
		fmt.Println("minify", short)
	}
}
GO
{
  venv/bin/python -c 'import minify_html
for html in open("pieces").read().splitlines(): print("minify-html", minify_html.minify(html))'
  node try.mjs
  go run .
} | tee seen
diff seen - <<'SEEN'
minify-html <div class=tags><a>rye</a><a>oats</a></div>
minify-html <blockquote>said <b>Ann</b><i>Mill</i> then</blockquote>
minify-html <li><a>rye</a> <a>oats</a>
minify-html <p>by <relative-time>2 March</relative-time> in Rome
minify-html <p>about <data value=5>five</data> bags
minify-html <p><a>rye</a>  <a>oats</a>
html-minifier-terser <div class="tags"><a>rye</a> <a>oats</a></div>
html-minifier-terser <blockquote>said <b>Ann</b> <i>Mill</i> then</blockquote>
html-minifier-terser <li><a>rye</a> <a>oats</a></li>
html-minifier-terser <p>by<relative-time>2 March</relative-time>in Rome</p>
html-minifier-terser <p>about<data value="5">five</data>bags</p>
html-minifier-terser <p><a>rye</a><a>oats</a></p>
minify <div class=tags><a>rye</a> <a>oats</a></div>
minify <blockquote>said <b>Ann</b> <i>Mill</i> then</blockquote>
minify <li><a>rye</a> <a>oats</a>
minify <p>by <relative-time>2 March</relative-time> in Rome
minify <p>about <data value=5>five</data> bags
minify <p><a>rye</a> <a>oats</a>
SEEN
