#!/usr/bin/env bash
# One would guess: @sindresorhus/slugify makes a word of a word: Œuvre is oeuvre, as it also says "deja-vu" of "Déjà vu!".
# What happens: it writes Œ as OE and Æ as AE first, and then parts words where a capital begins in camelCase: "Œuvre" is o-euvre, "Ærø"
# a-ero, and "Ævi" a-evi, while æ and œ inside a word are ae and oe. iPhone is i-phone, PostgreSQL postgre-sql, and GraphQL graph-ql, so that
# addresses made of tags are not found by the word. Small numbers above and below (H₂O, x²) and fractions are dropped, so that x² and x have
# one address. `decamelize: false` mends the first two.
# Seen with: @sindresorhus/slugify 3.0.1; transliteration 2.6.1, limax 4.2.3. Source: words of titles in three packages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @sindresorhus/slugify@3.0.1 transliteration@2.6.1 limax@4.2.3
cat > try.mjs <<'JS'
import slugify from "@sindresorhus/slugify";
import limax from "limax";
import { slugify as transliterated } from "transliteration";
for (const title of ["Œuvre", "Œuvres complètes", "Ærø", "Ævi", "Bœuf", "iPhone", "PostgreSQL", "GraphQL", "H₂O", "x²", "½ cup", "10×10"])
  console.log(`${title}: ${slugify(title)}, without decamelize ${slugify(title, { decamelize: false })}, limax ${limax(title)}, transliteration ${transliterated(title)}`);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
Œuvre: o-euvre, without decamelize oeuvre, limax oeuvre, transliteration oeuvre
Œuvres complètes: o-euvres-completes, without decamelize oeuvres-completes, limax oeuvres-completes, transliteration oeuvres-completes
Ærø: a-ero, without decamelize aero, limax aero, transliteration aero
Ævi: a-evi, without decamelize aevi, limax aevi, transliteration aevi
Bœuf: boeuf, without decamelize boeuf, limax boeuf, transliteration boeuf
iPhone: i-phone, without decamelize iphone, limax iphone, transliteration iphone
PostgreSQL: postgre-sql, without decamelize postgresql, limax postgresql, transliteration postgresql
GraphQL: graph-ql, without decamelize graphql, limax graphql, transliteration graphql
H₂O: h-o, without decamelize h-o, limax h2o, transliteration h2o
x²: x, without decamelize x, limax x2, transliteration x2
½ cup: cup, without decamelize cup, limax 1-2-cup, transliteration 1-2-cup
10×10: 10-10, without decamelize 10-10, limax 10-10, transliteration 10x10
SEEN
