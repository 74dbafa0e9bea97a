#!/usr/bin/env bash
# One would guess: kljensen/snowball, which says that its stemmers are Snowball's, makes the same Hungarian stems, at least of nouns without
# an ending.
# What happens: it takes the last consonant off short words, as if it were a case: kék (blue) and kém (spy) are both ké, fém (metal) and fék
# (brake) fé, szem (eye) and szén (coal) sze, vad (wild) and vak (blind) va, német (German) is né. Of 19,929 frequent words 309 have another
# stem than Snowball's, most of them short and common. A search for brakes finds metal.
# Seen with: github.com/kljensen/snowball v0.10.0, snowballstemmer 3.1.1 for Python. Source: frequent words of seven languages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet snowballstemmer==3.1.1
go mod init try 2> /dev/null
pin=github.com/kljensen/snowball@0.10.0
go get "${pin/@/@v}" 2> /dev/null # to Go it is v0.10.0
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/kljensen/snowball"
)

func main() {
	for _, word := range os.Args[1:] {
		stem, err := snowball.Stem(word, "hungarian", true)
		if err != nil {
			panic(err)
		}
		fmt.Println(word, stem)
	}
}
GO
words=(kék kém fém fék szem szén vad vak lát láb német könyv könyvek)
go run . "${words[@]}" > go.txt
venv/bin/python -c '
import snowballstemmer, sys
print("\n".join(snowballstemmer.stemmer("hungarian").stemWords(sys.argv[1:])))' "${words[@]}" > snowball.txt
paste -d ' ' go.txt snowball.txt | awk '{ print $1 ": kljensen " $2 ", Snowball " $3 }' | tee seen
diff seen - <<'SEEN'
kék: kljensen ké, Snowball kék
kém: kljensen ké, Snowball kém
fém: kljensen fé, Snowball fém
fék: kljensen fé, Snowball fék
szem: kljensen sze, Snowball szem
szén: kljensen sze, Snowball szé
vad: kljensen va, Snowball vad
vak: kljensen va, Snowball vak
lát: kljensen la, Snowball lá
láb: kljensen láb, Snowball láb
német: kljensen né, Snowball ném
könyv: kljensen könyv, Snowball könyv
könyvek: kljensen könyv, Snowball könyv
SEEN
