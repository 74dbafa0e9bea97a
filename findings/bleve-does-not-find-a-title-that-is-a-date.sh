#!/usr/bin/env bash
# One would guess: an index with Bleve's default mapping finds a post by its title, whatever the title is.
# What happens: a text that is a date as a whole (2024-01-31, also with a time) is indexed as a date instead, each value for itself. The
# daily note "2024-01-31" is found by none of its numbers, only as part of a range of dates; "2024-01-31 in review", "2024-01" and
# "31 January 2024" are words. A mapping that says the title is text finds them all.
# Seen with: bleve v2.6.3. Source: titles of notes and changelogs.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
go mod init try 2> /dev/null
pin=github.com/blevesearch/bleve/v2@2.6.3
go get "${pin/@/@v}" 2> /dev/null # to Go it is v2.6.3
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/blevesearch/bleve/v2"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	text := bleve.NewIndexMapping()
	text.DefaultMapping.AddFieldMappingsAt("title", bleve.NewTextFieldMapping())
	defaults := must(bleve.NewMemOnly(bleve.NewIndexMapping()))
	mapped := must(bleve.NewMemOnly(text))
	for _, title := range []string{"2024-01-31", "2024-01-31 09:30:00", "2024-01-31 in review", "31 January 2024", "2024-01"} {
		for _, index := range []bleve.Index{defaults, mapped} {
			if err := index.Index(title, map[string]string{"title": title}); err != nil {
				panic(err)
			}
		}
		own := bleve.NewConjunctionQuery(bleve.NewMatchQuery(title), bleve.NewDocIDQuery([]string{title}))
		found := func(index bleve.Index) uint64 { return must(index.Search(bleve.NewSearchRequest(own))).Total }
		fmt.Printf("%s: by its own words %d, mapped as text %d\n", title, found(defaults), found(mapped))
	}
}
GO
go mod tidy 2> /dev/null
go run . | tee seen
diff seen - <<'SEEN'
2024-01-31: by its own words 0, mapped as text 1
2024-01-31 09:30:00: by its own words 0, mapped as text 1
2024-01-31 in review: by its own words 1, mapped as text 1
31 January 2024: by its own words 1, mapped as text 1
2024-01: by its own words 1, mapped as text 1
SEEN
