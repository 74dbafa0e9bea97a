#!/usr/bin/env bash
# One would guess: `<!-- /wp:list -->` ends the innermost list block, or is ignored where none is open.
# What happens: WordPress' parser does not compare the name of an end with that of the block that it ends. Any end ends
# the innermost open block, so one stray end moves all that follows out of the block around it, such as a hidden group.
# Seen with: @wordpress/block-serialization-default-parser 5.56.0 (as the parser in PHP of WordPress 7.1).
# Source: reading hidden blocks from exports of WordPress.
set -euo pipefail
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @wordpress/block-serialization-default-parser@5.56.0
cat > seen.mjs <<'JS'
import { createRequire } from 'node:module';
const require = createRequire( import.meta.url );
const { parse } = require( '@wordpress/block-serialization-default-parser' );
const text =
	'<!-- wp:group --><!-- wp:paragraph --><p>A</p><!-- /wp:paragraph -->' +
	'<!-- /wp:list --><p>B</p><!-- /wp:group -->';
const shown = parse( text ).map( ( block ) => [ block.blockName, block.innerBlocks.length, block.innerHTML ] );
console.log( JSON.stringify( shown ) );
const wanted = [ [ 'core/group', 1, '' ], [ null, 0, '<p>B</p><!-- /wp:group -->' ] ];
if ( JSON.stringify( shown ) !== JSON.stringify( wanted ) ) throw new Error( 'it has changed' );
JS
echo "@wordpress/block-serialization-default-parser 5.56.0"
node seen.mjs
