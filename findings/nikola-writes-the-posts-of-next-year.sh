#!/usr/bin/env bash
# One would guess: a post with a date to come is not in the folder that Nikola writes until its day comes, as with Hugo and Jekyll, and one with
# `status: private` is nowhere, or asks not to be indexed, as one with `status: draft` does.
# What happens: `nikola build` writes pages of all of them; feeds, lists and the sitemap leave them out. The page of a draft has noindex, that of a
# private post and that of the year 2099 have nothing, so that who copies the folder publishes them, and what reads the folder finds them: Pagefind
# indexes all, the draft too, as it does not read noindex. Nikola's own `deploy` leaves out those of the future, and drafts only if it is told to.
# Seen with: Nikola 8.3.3, pagefind 1.5.2 (PyPI). Source: four posts; the names of the settings DEPLOY_FUTURE and DEPLOY_DRAFTS.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet nikola==8.3.3 markdown==3.11.3 pagefind==1.5.2 pagefind_bin==1.5.2
venv/bin/nikola init --quiet site < /dev/null > /dev/null 2>&1
cd site
rm -rf posts/* pages/*
post() { printf '<!--\n.. title: %s\n.. slug: %s\n.. date: %s 09:30:00 UTC\n.. status: %s\n-->\n\nRye.\n' "$1" "$1" "$2" "$3" > "posts/$1.md"; }
post usual 2026-03-01 published
post draft 2026-03-02 draft
post private 2026-03-03 private
post later 2099-03-04 published
../venv/bin/nikola build > ../log 2>&1
for page in output/posts/*/index.html; do
  name=$(basename "$(dirname "$page")")
  has() { grep -q "$1" "$2" && echo yes || echo no; }
  echo "$name: noindex $(has noindex "$page"), sitemap $(has "posts/$name/" output/sitemap.xml), feed $(has "posts/$name/" output/rss.xml)"
done | tee ../seen
../venv/bin/python -m pagefind --site output --glob 'posts/**/*.html' 2>&1 | grep -o 'Indexed .* pages' | tee -a ../seen
cd ..
diff seen - <<'SEEN'
draft: noindex yes, sitemap no, feed no
later: noindex no, sitemap no, feed no
private: noindex no, sitemap no, feed no
usual: noindex no, sitemap yes, feed yes
Indexed 4 pages
SEEN
