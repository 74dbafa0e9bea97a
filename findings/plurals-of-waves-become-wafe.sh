#!/usr/bin/env bash
# One would guess: a library that makes the singular of English plurals, as tools do for tags, gets regular ones right: waves, caves,
# gloves.
# What happens: inflection for Python, and Go's jinzhu/inflection (of GORM) and gobuffalo/flect apply a rule for knives and wives to all in
# -ves: caves are a cafe, waves a wafe, gloves a glofe, olives an olife. nerves are nerf, in npm's inflection too, which has olife and dife
# as well. Posts about caves stand under cafe, with those about cafés once accents are taken off. pluralize, and gertd/go-pluralize after
# it, get these right, but caches are cach in five of six, lens is len in all, and redis redi.
# Seen with: inflection 0.5.1 (PyPI), inflection 3.0.2 and pluralize 8.0.0 (npm), jinzhu/inflection v1.0.0, flect v1.0.3, go-pluralize
# v0.2.1.
# Source: 40 words that posts are tagged with.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet inflection==0.5.1
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund inflection@3.0.2 pluralize@8.0.0
go mod init try 2> /dev/null
for pin in github.com/jinzhu/inflection@1.0.0 github.com/gobuffalo/flect@1.0.3 github.com/gertd/go-pluralize@0.2.1; do
  go get "${pin/@/@v}" 2> /dev/null # to Go they are v1.0.0, v1.0.3 and v0.2.1
done
cat > try.mjs <<'JS'
import { singularize } from "inflection";
import pluralize from "pluralize";
const words = process.argv.slice(2);
console.log("npm inflection:", words.map((word) => singularize(word)).join(" "));
console.log("npm pluralize:", words.map((word) => pluralize.singular(word)).join(" "));
JS
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	pluralize "github.com/gertd/go-pluralize"
	"github.com/gobuffalo/flect"
	"github.com/jinzhu/inflection"
)

func main() {
	for _, one := range []struct {
		name     string
		singular func(string) string
	}{{"jinzhu/inflection", inflection.Singular}, {"flect", flect.Singularize}, {"go-pluralize", pluralize.NewClient().Singular}} {
		fmt.Print(one.name, ":")
		for _, word := range os.Args[1:] {
			fmt.Print(" ", one.singular(word))
		}
		fmt.Println()
	}
}
GO
words=(waves caves olives dives gloves nerves caches lens canvas redis knives)
{
  venv/bin/python -c 'import inflection, sys; print("PyPI inflection:", *map(inflection.singularize, sys.argv[1:]))' "${words[@]}"
  node try.mjs "${words[@]}"
  go run . "${words[@]}"
} | tee seen
diff seen - <<'SEEN'
PyPI inflection: wafe cafe olife dife glofe nerf cach len canva redi knife
npm inflection: wave cave olife dife glove nerf cach len canvas redi knife
npm pluralize: wave cave olive dive glove nerve cach len canva redi knife
jinzhu/inflection: wafe cafe olife dife glofe nerf cach len canva redi knife
flect: wafe cafe olife dife glofe nerfe cache len canva redi knife
go-pluralize: wave cave olive dive glove nerve cach len canvas redi knife
SEEN
