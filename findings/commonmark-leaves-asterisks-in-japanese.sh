#!/usr/bin/env bash
# One would guess: **words** are bold in each Markdown, wherever they stand and whatever language they are in, so that the signs are in no page, index or
# excerpt.
# What happens: CommonMark lets ** end only where no punctuation stands before it, or white space or punctuation stands behind. Japanese and Chinese
# have no spaces, and Korean puts its particles behind a bracket without one: **検索。**です, 太字**「引用」**あり and **데이터(data)**를 keep their
# asterisks in the page. So does **Hello!**World. Python-Markdown, which is older, makes all of them bold, so that a blog that moves from
# Pelican or MkDocs to Hugo, Astro or Eleventy shows asterisks in old posts. **重要**です is bold everywhere.
# Seen with: markdown-it 15.0.3, marked 18.2.1, micromark 4.0.3 (remark), commonmark 0.31.2, goldmark 1.8.7, Markdown 3.11.3 for Python.
# Source: eleven pieces; the rule on delimiter runs of CommonMark 0.31.2.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund markdown-it@15.0.3 marked@18.2.1 micromark@4.0.3 commonmark@0.31.2
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet markdown==3.11.3
go mod init bold 2> /dev/null
pin=github.com/yuin/goldmark@1.8.7
go get "${pin/@/@v}" 2> /dev/null # to Go it is v1.8.7
cat > pieces <<'MD'
**検索。**です
太字**「引用」**あり
**데이터(data)**를
**Hello!**World
**重要**です
MD
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import * as commonmark from "commonmark";
import MarkdownIt from "markdown-it";
import { marked } from "marked";
import { micromark } from "micromark";
const libraries = {
  "markdown-it": (text) => new MarkdownIt().render(text),
  marked: (text) => marked.parse(text),
  micromark,
  commonmark: (text) => new commonmark.HtmlRenderer().render(new commonmark.Parser().parse(text)),
};
for (const [name, render] of Object.entries(libraries))
  for (const piece of readFileSync("pieces", "utf8").trim().split("\n")) console.log(`${name}: ${render(piece).trim()}`);
JS
cat > main.go <<'GO'
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/yuin/goldmark"
)

func main() {
	text, _ := os.ReadFile("pieces")
	for _, piece := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var page bytes.Buffer
		if err := goldmark.Convert(piece, &page); err != nil {
			panic(err)
		}
		fmt.Printf("goldmark: %s", &page)
	}
}
GO
cat > try.py <<'PY'
import markdown

for piece in open("pieces", encoding="utf-8"):
    print("Python-Markdown:", markdown.markdown(piece))
PY
{ node try.mjs && go run . && venv/bin/python try.py; } | tee seen
diff seen - <<'SEEN'
markdown-it: <p>**検索。**です</p>
markdown-it: <p>太字**「引用」**あり</p>
markdown-it: <p>**데이터(data)**를</p>
markdown-it: <p>**Hello!**World</p>
markdown-it: <p><strong>重要</strong>です</p>
marked: <p>**検索。**です</p>
marked: <p>太字**「引用」**あり</p>
marked: <p>**데이터(data)**를</p>
marked: <p>**Hello!**World</p>
marked: <p><strong>重要</strong>です</p>
micromark: <p>**検索。**です</p>
micromark: <p>太字**「引用」**あり</p>
micromark: <p>**데이터(data)**를</p>
micromark: <p>**Hello!**World</p>
micromark: <p><strong>重要</strong>です</p>
commonmark: <p>**検索。**です</p>
commonmark: <p>太字**「引用」**あり</p>
commonmark: <p>**데이터(data)**를</p>
commonmark: <p>**Hello!**World</p>
commonmark: <p><strong>重要</strong>です</p>
goldmark: <p>**検索。**です</p>
goldmark: <p>太字**「引用」**あり</p>
goldmark: <p>**데이터(data)**를</p>
goldmark: <p>**Hello!**World</p>
goldmark: <p><strong>重要</strong>です</p>
Python-Markdown: <p><strong>検索。</strong>です</p>
Python-Markdown: <p>太字<strong>「引用」</strong>あり</p>
Python-Markdown: <p><strong>데이터(data)</strong>를</p>
Python-Markdown: <p><strong>Hello!</strong>World</p>
Python-Markdown: <p><strong>重要</strong>です</p>
SEEN
