#!/usr/bin/env bash
# One would guess: the id that a writer of feeds gives to an entry without one is its link, or at least stays what it is and is its own.
# What happens: gorilla/feeds makes a tag: URI of the host, the path and the day of `Updated`. A post that is corrected a day later has another id:
# readers show it again, as new, and an index by ids has it twice. The query is not in it, so that /?p=1 and /?p=2 of one day are
# one entry. In its JSON Feed each id is the empty text, which cannot tell items apart, and in its RSS there is no guid.
# Seen with: gorilla/feeds v1.2.0, feedparser 6.0.14. Source: two posts, before and after a correction.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet feedparser==6.0.14
cat > main.go <<'GO'
package main

import (
	"os"
	"time"

	"github.com/gorilla/feeds"
)

func main() {
	day := time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC)
	for name, updated := range map[string]time.Time{"before": day, "corrected": day.AddDate(0, 0, 1)} {
		feed := &feeds.Feed{Title: "Rye", Link: &feeds.Link{Href: "https://blog.example.org/"}, Created: day}
		feed.Items = []*feeds.Item{
			{Title: "One", Link: &feeds.Link{Href: "https://blog.example.org/?p=1"}, Created: day, Updated: updated},
			{Title: "Two", Link: &feeds.Link{Href: "https://blog.example.org/?p=2"}, Created: day},
		}
		atom, _ := feed.ToAtom()
		rss, _ := feed.ToRss()
		json, _ := feed.ToJSON()
		for kind, text := range map[string]string{"atom": atom, "rss": rss, "json": json} {
			os.WriteFile(name+"."+kind, []byte(text), 0o644)
		}
	}
}
GO
go mod init seen 2> /dev/null
pin=github.com/gorilla/feeds@1.2.0
go get "${pin/@/@v}" 2> /dev/null # to Go it is v1.2.0
go run .
cat > try.py <<'PY'
import json

import feedparser

for name in ("before", "corrected"):
    for kind in ("atom", "rss"):
        entries = feedparser.parse(f"{name}.{kind}").entries
        print(name, kind, [entry.get("id", "none") for entry in entries])
    print(name, "json", [item["id"] for item in json.load(open(f"{name}.json"))["items"]])
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
before atom ['tag:blog.example.org,2026-03-04:/', 'tag:blog.example.org,2026-03-04:/']
before rss ['none', 'none']
before json ['', '']
corrected atom ['tag:blog.example.org,2026-03-05:/', 'tag:blog.example.org,2026-03-04:/']
corrected rss ['none', 'none']
corrected json ['', '']
SEEN
