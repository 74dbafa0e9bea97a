#!/usr/bin/env bash
# One would guess: MkDocs' `prebuild_index: python` makes the index that the browser would make otherwise, so that it finds the same.
# What happens: the stemmer of lunr.py, which makes it, turns each y at the end into i, that of lunr.js, which searches it, only one
# behind a consonant. In the index is `kei`, what is looked up is `key`: no search finds key, day, play, always, deploy, display or
# gateway on such a site, nor deployed or keys. City and supply are found. Without the option all are.
# Seen with: mkdocs 1.6.1, lunr 0.8.0 (PyPI) and the lunr.js 2.3.9 that MkDocs ships. Source: 5,522 words of posts, of which 74 are
# found by an index of lunr.js and not by one of lunr.py.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet mkdocs==1.6.1 lunr==0.8.0
mkdir docs
echo "A key to the gateway. We always play all day, deploy and display. Supply the city with rye." > docs/index.md
cat > mkdocs.yml <<'YAML'
site_name: Mill
plugins: [{search: {prebuild_index: python}}]
YAML
venv/bin/mkdocs build --quiet
cat > try.cjs <<'JS'
const lunr = require("./site/search/lunr.js");
const { index, docs } = require("./site/search/search_index.json");
const prebuilt = lunr.Index.load(index);
const built = lunr(function () {
  this.ref("location"); this.field("title"); this.field("text"); docs.forEach((page) => this.add(page));
});
for (const word of "key keys gateway always play day deployed display supply city rye".split(" "))
  console.log(`${word}: prebuilt ${prebuilt.search(word).length}, built by the browser ${built.search(word).length}`);
JS
node try.cjs | tee seen
diff seen - <<'SEEN'
key: prebuilt 0, built by the browser 1
keys: prebuilt 0, built by the browser 1
gateway: prebuilt 0, built by the browser 1
always: prebuilt 0, built by the browser 1
play: prebuilt 0, built by the browser 1
day: prebuilt 0, built by the browser 1
deployed: prebuilt 0, built by the browser 1
display: prebuilt 0, built by the browser 1
supply: prebuilt 1, built by the browser 1
city: prebuilt 1, built by the browser 1
rye: prebuilt 1, built by the browser 1
SEEN
