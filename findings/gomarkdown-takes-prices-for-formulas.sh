#!/usr/bin/env bash
# One would guess: gomarkdown's ToHTML without options writes plain sentences as CommonMark does, with curly quotation marks at most.
# What happens: two dollar signs in a paragraph are a formula: "Costs $5 and $6" is "Costs \(5 and \)6", and "Set $HOME and $PATH" loses both signs, in
# a page where no script draws formulas. Each n/m is a fraction: 24/7 and 9/11 have numerals raised and lowered around U+2044, which is no slash
# to a search in the text (1/2/2026 is left alone). --help is –help with a dash. 1986. begins a list with 1, and "# C#" is C.
# Seen with: gomarkdown/markdown of 7 November 2026. Source: 30 sentences; its documentation names the extensions, and math among the common ones.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
go mod init prices 2> /dev/null
pin=github.com/gomarkdown/markdown@0.0.0-20261107153045-a51d70be185e
go get "${pin/@/@v}" 2> /dev/null # to Go it is v0.0.0-…
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/gomarkdown/markdown"
)

func main() {
	for _, text := range []string{"Costs $5 and $6", "Set $HOME and $PATH", "Costs $5", "Open 24/7", "On 9/11", "On 1/2/2026", "use --help now", "1986. A good year"} {
		fmt.Printf("%s -> %q\n", text, markdown.ToHTML([]byte(text), nil, nil))
	}
}
GO
go run . | tee seen
diff seen - <<'SEEN'
Costs $5 and $6 -> "<p>Costs <span class=\"math inline\">\\(5 and \\)</span>6</p>\n"
Set $HOME and $PATH -> "<p>Set <span class=\"math inline\">\\(HOME and \\)</span>PATH</p>\n"
Costs $5 -> "<p>Costs $5</p>\n"
Open 24/7 -> "<p>Open <sup>24</sup>&frasl;<sub>7</sub></p>\n"
On 9/11 -> "<p>On <sup>9</sup>&frasl;<sub>11</sub></p>\n"
On 1/2/2026 -> "<p>On 1/2/2026</p>\n"
use --help now -> "<p>use &ndash;help now</p>\n"
1986. A good year -> "<ol>\n<li>A good year</li>\n</ol>\n"
SEEN
