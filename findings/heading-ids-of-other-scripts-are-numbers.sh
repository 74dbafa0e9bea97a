#!/usr/bin/env bash
# One would guess: the id of a heading is made of its words, so that a link to a section, as from a search result, leads to it as
# long as the heading stays.
# What happens: Python-Markdown (Pelican, MkDocs), docutils (Sphinx) and goldmark with auto heading ids keep ASCII letters only. Headings
# in Japanese or Russian are numbered (_1, section-1, heading-1) in their order: with one more heading at the top, each link to those below
# leads to the one before. Łódź is odz in the first, lodz in the second, d in the third, and Straße strae, strasze and strae.
# github-slugger (Docusaurus, Astro) keeps all letters; so does Python-Markdown with slugify=slugify_unicode, which it has.
# Seen with: Markdown 3.11.3, docutils 0.23, goldmark v1.8.7, github-slugger 2.0.0. Source: four headings, before and after a fifth.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet Markdown==3.11.3 docutils==0.23
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund github-slugger@2.0.0
go mod init try 2> /dev/null
go get github.com/yuin/goldmark@v1.8.7 2> /dev/null
printf '# %s\n\n' 検索 Поиск "Łódź, Straße" 索引 > before.md
{ printf '# 序文\n\n'; cat before.md; } > after.md
cat > try.py <<'PY'
import re
import docutils.core, markdown

for name in ("before", "after"):
    text = open(f"{name}.md").read()
    print("Python-Markdown,", name, *re.findall(r' id="(.*?)"', markdown.markdown(text, extensions=["toc"])))
    sections = re.sub(r"# (.*)", lambda heading: f"{heading[1]}\n{'-' * 40}", text)
    page = docutils.core.publish_parts(f"Mill\n====\n\nRye.\n\n{sections}", writer="html5")["html_body"]
    print("docutils,", name, *re.findall(r'<section id="(.*?)"', page))
PY
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import GithubSlugger from "github-slugger";
for (const name of ["before", "after"]) {
  const slugger = new GithubSlugger();
  const headings = [...readFileSync(`${name}.md`, "utf8").matchAll(/^# (.*)/gm)].map((match) => slugger.slug(match[1]));
  console.log(`github-slugger, ${name}`, ...headings);
}
JS
cat > main.go <<'GO'
package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
)

func main() {
	converter := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	for _, name := range []string{"before", "after"} {
		text, err := os.ReadFile(name + ".md")
		if err != nil {
			panic(err)
		}
		var page bytes.Buffer
		if err := converter.Convert(text, &page); err != nil {
			panic(err)
		}
		fmt.Print("goldmark, ", name)
		for _, id := range regexp.MustCompile(`id="(.*?)"`).FindAllStringSubmatch(page.String(), -1) {
			fmt.Print(" ", id[1])
		}
		fmt.Println()
	}
}
GO
{ venv/bin/python try.py; go run .; node try.mjs; } | tee seen
diff seen - <<'SEEN'
Python-Markdown, before _1 _2 odz-strae _3
docutils, before section-1 section-2 lodz-strasze section-3
Python-Markdown, after _1 _2 _3 odz-strae _4
docutils, after section-1 section-2 section-3 lodz-strasze section-4
goldmark, before heading heading-1 d-strae heading-2
goldmark, after heading heading-1 heading-2 d-strae heading-3
github-slugger, before 検索 поиск łódź-straße 索引
github-slugger, after 序文 検索 поиск łódź-straße 索引
SEEN
