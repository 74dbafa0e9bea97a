#!/usr/bin/env bash
# One would guess: Bleve's query string, which has the signs of Lucene's (+, -, quotes, fields), has its AND too, and a question mark behind a
# word, as people type it, does no harm.
# What happens: ? stands for one letter, so that "what is rye?" looks for words of four letters that begin with rye, and finds nothing, without
# an error, while "what is rye" finds all. AND is a word, and a common one that the analyzer drops: rye AND bread finds posts with either.
# rye-bread is no phrase but either word, so 2026-03-04 finds each text with 2026, 03 or 04. A time (10:30) and "rye:" are syntax errors. Words
# with a capital are not found by their beginning (Ry*).
# Seen with: bleve v2.6.3. Source: its documentation names + and - and no AND; 46 queries of 20 titles.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
go mod init titles 2> /dev/null
pin=github.com/blevesearch/bleve/v2@2.6.3
go get "${pin/@/@v}" 2> /dev/null # to Go it is v2.6.3
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/blevesearch/bleve/v2"
)

func main() {
	mapping := bleve.NewIndexMapping()
	mapping.DefaultAnalyzer = "en"
	index, err := bleve.NewMemOnly(mapping)
	if err != nil {
		panic(err)
	}
	for _, title := range []string{"Rye bread", "Rye", "Oat bread", "2026 in review", "10:30 at the mill"} {
		if err := index.Index(title, map[string]any{"title": title}); err != nil {
			panic(err)
		}
	}
	for _, asked := range []string{"what is rye", "what is rye?", "rye AND bread", "+rye +bread", "rye-bread", "2026-03-04", "10:30", "ry*", "Ry*"} {
		request := bleve.NewSearchRequest(bleve.NewQueryStringQuery(asked))
		request.SortBy([]string{"_id"})
		answer, err := index.Search(request)
		if err != nil {
			fmt.Printf("%s: %v\n", asked, err)
			continue
		}
		found := []string{}
		for _, hit := range answer.Hits {
			found = append(found, hit.ID)
		}
		fmt.Printf("%s: %q\n", asked, found)
	}
}
GO
go run . | tee seen
diff seen - <<'SEEN'
what is rye: ["Rye" "Rye bread"]
what is rye?: []
rye AND bread: ["Oat bread" "Rye" "Rye bread"]
+rye +bread: ["Rye bread"]
rye-bread: ["Oat bread" "Rye" "Rye bread"]
2026-03-04: ["2026 in review"]
10:30: syntax error
ry*: ["Rye" "Rye bread"]
Ry*: []
SEEN
