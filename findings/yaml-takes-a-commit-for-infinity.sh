#!/usr/bin/env bash
# One would guess: an abbreviated commit in front matter or a data file (commit: 12e4567) is text, as there are letters in it, or at
# least the same to all readers of YAML.
# What happens: digits with one e between them are a number in YAML 1.2. 12e4567 is infinite, and JSON has null for it; 1234567e8 is
# 123456700000000, and 1e10 and 10000000000 are one. That is so with yaml, js-yaml 3 (gray-matter) and ruamel.yaml. PyYAML, whose YAML 1.1 wants
# a point, and goccy/go-yaml keep all of them; js-yaml 5 and gopkg.in/yaml.v3 keep the infinite one, and make a number of
# the rest. One in 54 of all commits that are cut to seven digits looks so; quotation marks help.
# Seen with: yaml 2.9.1, gray-matter 4.0.3, js-yaml 5.5.0, ruamel.yaml 0.19.1, PyYAML 6.0.4, gopkg.in/yaml.v3 v3.0.1, goccy/go-yaml v1.19.2.
# Source: three values read by seven libraries.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund yaml@2.9.1 gray-matter@4.0.3 js-yaml@5.5.0
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet ruamel.yaml==0.19.1 PyYAML==6.0.4
go mod init commits 2> /dev/null
go get gopkg.in/yaml.v3@v3.0.1 github.com/goccy/go-yaml@v1.19.2 2> /dev/null
printf 'a: 12e4567\nb: 1234567e8\nc: 1e10\n' > data.yaml
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import matter from "gray-matter";
import * as jsYaml from "js-yaml";
import { parse } from "yaml";
const text = readFileSync("data.yaml", "utf8");
const read = { "yaml": parse(text), "gray-matter": matter(`---\n${text}---\n`).data, "js-yaml 5": jsYaml.load(text) };
for (const [name, values] of Object.entries(read)) console.log(`${name}:`, ...Object.values(values).map((value) => `${typeof value} ${value},`), JSON.stringify(values));
JS
cat > try.py <<'PY'
import ruamel.yaml, yaml

text = open("data.yaml").read()
for name, values in (("ruamel.yaml", ruamel.yaml.YAML().load(text)), ("PyYAML", yaml.safe_load(text))):
    print(f"{name}:", *(f"{type(value).__name__} {value}," for value in values.values()))
PY
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	goccy "github.com/goccy/go-yaml"
	yaml "gopkg.in/yaml.v3"
)

func main() {
	text, err := os.ReadFile("data.yaml")
	if err != nil {
		panic(err)
	}
	var first, second map[string]any
	if err := yaml.Unmarshal(text, &first); err != nil {
		panic(err)
	}
	if err := goccy.Unmarshal(text, &second); err != nil {
		panic(err)
	}
	for _, key := range []string{"a", "b", "c"} {
		fmt.Printf("yaml.v3: %T %v, goccy: %T %v\n", first[key], first[key], second[key], second[key])
	}
}
GO
{ node try.mjs && venv/bin/python try.py && go run .; } | tee seen
diff seen - <<'SEEN'
yaml: number Infinity, number 123456700000000, number 10000000000, {"a":null,"b":123456700000000,"c":10000000000}
gray-matter: number Infinity, number 123456700000000, number 10000000000, {"a":null,"b":123456700000000,"c":10000000000}
js-yaml 5: string 12e4567, number 123456700000000, number 10000000000, {"a":"12e4567","b":123456700000000,"c":10000000000}
ruamel.yaml: ScalarFloat inf, ScalarFloat 123456700000000.0, ScalarFloat 10000000000.0,
PyYAML: str 12e4567, str 1234567e8, str 1e10,
yaml.v3: string 12e4567, goccy: string 12e4567
yaml.v3: float64 1.234567e+14, goccy: string 1234567e8
yaml.v3: float64 1e+10, goccy: string 1e10
SEEN
