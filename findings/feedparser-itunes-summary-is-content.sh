#!/usr/bin/env bash
# One would guess: `content` of an entry is its <content:encoded>, and `summary` its <description>, wherever the
# short <itunes:summary> of a podcast stands.
# What happens: <itunes:summary> and <description> are the same to feedparser. Whichever comes second goes into
# `content`: behind the description, the short summary is the only `content` of an entry, as plain text, and before it
# the notes are `content` and the short summary is `summary`.
# Seen with: feedparser 6.0.14. Source: podcasts whose notes vanished from a search.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv . && ./bin/pip install --quiet feedparser==6.0.14
./bin/python - <<'PYTHON'
import io
import feedparser

NOTES = "<description>&lt;p&gt;Notes, with links and chapters.&lt;/p&gt;</description>"
SHORT = "<itunes:summary>In short.</itunes:summary>"
HEAD = '<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>P</title><item>'

def contents(item):
    feed = feedparser.parse(io.BytesIO(f"{HEAD}{item}</item></channel></rss>".encode()))
    (entry,) = feed.entries
    return [(it["type"], it["value"]) for it in entry.get("content", [])], entry.summary

print("feedparser", feedparser.__version__)
behind, before = contents(NOTES + SHORT), contents(SHORT + NOTES)
print("description, itunes:summary ->", behind)
print("itunes:summary, description ->", before)
assert behind == ([("text/plain", "In short.")], "<p>Notes, with links and chapters.</p>"), behind
assert before == ([("text/html", "<p>Notes, with links and chapters.</p>")], "In short."), before
PYTHON
