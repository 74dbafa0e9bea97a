#!/usr/bin/env bash
# One would guess: `H~2~O` is H2O with a subscript, as in Pandoc and markdown-it-sub, or stays as it is written:
# strikethrough takes two tildes (`~~x~~`).
# What happens: remark-gfm strikes the 2 out. One tilde is enough by default (singleTilde), as on GitHub, though its
# specification names two. A search that reads `~2~` as a subscript and one that reads `<del>` see different words.
# Seen with: remark 15.0.1, remark-gfm 4.0.1, remark-html 16.0.1. Source: signs of Markdown in excerpts.
set -euo pipefail
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund remark@15.0.1 remark-gfm@4.0.1 remark-html@16.0.1
cat > seen.mjs <<'JS'
import { remark } from 'remark';
import gfm from 'remark-gfm';
import html from 'remark-html';
const shown = String( await remark().use( gfm ).use( html ).process( 'Drink H~2~O.' ) ).trim();
const strict = String( await remark().use( gfm, { singleTilde: false } ).use( html ).process( 'Drink H~2~O.' ) ).trim();
console.log( 'by default:', shown );
console.log( 'singleTilde: false:', strict );
if ( shown !== '<p>Drink H<del>2</del>O.</p>' || strict !== '<p>Drink H~2~O.</p>' ) throw new Error( 'it has changed' );
JS
echo "remark-gfm 4.0.1"
node seen.mjs
