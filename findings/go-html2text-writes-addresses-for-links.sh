#!/usr/bin/env bash
# One would guess: a library that makes plain text of HTML (k3a/html2text, for mails and indexes) keeps the words of a link, with or without
# its address.
# What happens: it keeps the address and drops the words. "Read the <a>rye guide</a> now" is "Read the /rye now", the anchor in a heading is
# "#h", and an <a> without href, as a target or a link taken out, leaves nothing at all. No post is found by what it links to.
# An option, WithLinksInnerText, writes both, but of an <a> without href neither, and between two of them it loses the words as well.
# Seen with: github.com/k3a/html2text v1.3.0. Source: 24 pieces of HTML.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/k3a/html2text"
)

func main() {
	for _, piece := range []string{
		`Read the <a href="/rye">rye guide</a> now`, `<a href="https://blog.example.org/?p=1&amp;q=2">Rye</a>s`, `<h2>Mills <a href="#mills">¶</a></h2>`,
		`<a>Oats</a> and <a name="barley">barley</a>`, `<b>un</b>able`,
	} {
		fmt.Printf("%s\n  %q\n  %q with the option\n", piece, html2text.HTML2Text(piece), html2text.HTML2TextWithOptions(piece, html2text.WithLinksInnerText()))
	}
}
GO
go mod init seen 2> /dev/null
pin=github.com/k3a/html2text@1.3.0
go get "${pin/@/@v}" 2> /dev/null # to Go it is v1.3.0
go run . | tee seen
diff seen - <<'SEEN'
Read the <a href="/rye">rye guide</a> now
  "Read the /rye now"
  "Read the rye guide </rye> now" with the option
<a href="https://blog.example.org/?p=1&amp;q=2">Rye</a>s
  "https://blog.example.org/?p=1&q=2s"
  "Rye <https://blog.example.org/?p=1&q=2>s" with the option
<h2>Mills <a href="#mills">¶</a></h2>
  "Mills #mills"
  "Mills ¶ <#mills>" with the option
<a>Oats</a> and <a name="barley">barley</a>
  "and "
  "" with the option
<b>un</b>able
  "unable"
  "unable" with the option
SEEN
