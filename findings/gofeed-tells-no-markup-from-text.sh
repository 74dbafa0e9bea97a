#!/usr/bin/env bash
# One would guess: a reader of feeds that gives each entry one title gives it in one form, text or HTML, whatever its type in the feed was.
# What happens: gofeed (Go) leaves titles as they stand and forgets their type. Atom's type="html" is HTML ("R&amp;D, Vec&lt;T&gt;"), its
# type="text" and RSS are text ("R&D, Vec<T>"), and xhtml is markup again, and nothing tells which is which: who escapes the title shows
# "R&amp;amp;D" for the first, who does not loses <T> of the second.
# Seen with: gofeed v1.4.2. Source: 55 entries of RSS, Atom and JSON Feed.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
go mod init try 2> /dev/null
pin=github.com/mmcdole/gofeed@1.4.2
go get "${pin/@/@v}" 2> /dev/null # to Go it is v1.4.2
cat > feed.xml <<'XML'
<feed xmlns="http://www.w3.org/2005/Atom"><title>Mill</title><id>urn:mill</id><updated>2026-03-04T00:00:00Z</updated>
<entry><id>urn:1</id><title type="html">R&amp;amp;D, Vec&amp;lt;T&amp;gt;</title></entry>
<entry><id>urn:2</id><title type="text">R&amp;D, Vec&lt;T&gt;</title></entry>
<entry><id>urn:3</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">R&amp;D, <b>Vec</b></div></title></entry>
</feed>
XML
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/mmcdole/gofeed"
)

func main() {
	file, err := os.Open("feed.xml")
	if err != nil {
		panic(err)
	}
	feed, err := gofeed.NewParser().Parse(file)
	if err != nil {
		panic(err)
	}
	for _, item := range feed.Items {
		fmt.Printf("%s: %s\n", item.GUID, item.Title)
	}
}
GO
go run . | tee seen
diff seen - <<'SEEN'
urn:1: R&amp;D, Vec&lt;T&gt;
urn:2: R&D, Vec<T>
urn:3: R&amp;D, <b>Vec</b>
SEEN
