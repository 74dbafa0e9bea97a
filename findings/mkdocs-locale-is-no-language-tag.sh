#!/usr/bin/env bash
# One would guess: MkDocs with `theme.locale: pt_BR` writes <html lang="pt-BR">, the form that HTML asks for (BCP 47), as its
#   own search index and browsers need a language tag.
# What happens: MkDocs 1.6.1 writes the locale as it is, `lang="pt_BR"`, in both of its themes. That is no valid tag: Python's
#   babel refuses it with its usual separator for tags, and a browser's `:lang(pt)` does not match it.
# Source: mkdocs/themes/mkdocs/base.html, mkdocs/themes/readthedocs/base.html of 1.6.1.
set -euo pipefail
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mkdocs==1.6.1 'babel==2.17.0'
mkdir docs
echo '# Olá' > docs/index.md
for theme in mkdocs readthedocs; do
  printf 'site_name: Caderno\nsite_url: https://example.org/\ntheme: {name: %s, locale: pt_BR}\n' "$theme" > mkdocs.yml
  venv/bin/mkdocs build --quiet --site-dir "$theme"
  lang=$(grep -o '<html[^>]*lang="[^"]*"' "$theme/index.html" | grep -o 'lang="[^"]*"')
  echo "MkDocs 1.6.1, theme $theme: $lang"
  [ "$lang" = 'lang="pt_BR"' ]
done
venv/bin/python - <<'PYTHON'
from babel import Locale, UnknownLocaleError

print("babel:", Locale.parse("pt-BR", sep="-"))
try:
    print(Locale.parse("pt_BR", sep="-"))
except (UnknownLocaleError, ValueError) as error:
    print("babel:", error)
else:
    raise SystemExit("babel takes pt_BR for a tag now")
PYTHON
