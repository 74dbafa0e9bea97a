#!/usr/bin/env bash
# One would guess: a detector of languages that knows the scripts takes a title with kana for Japanese and one with hangul for Korean, whatever
# names of products are in it.
# What happens: franc and whatlang (Rust) first ask which script has most letters, and drop the others: with an English name in it the title is
# European. "GitHub Actionsを試す" (trying GitHub Actions) is English, "Next.jsで作るブログ" (a blog made with Next.js) Hmong and Akan,
# "React 상태 관리" (managing state) Romanian. lingua, which has rules for scripts, says Zulu and Czech of the first two and Finnish of a Hindi title,
# and eld English and Norwegian of three. A post of a Japanese blog is stemmed as a European text, or stands under a language that the blog does
# not have. tinyld is right about all six.
# Seen with: franc 6.2.0, whatlang 0.18.0, lingua-language-detector 2.1.1, tinyld 1.3.4, eld 2.1.0. Source: 23 titles with a name in them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund franc@6.2.0 tinyld@1.3.4 eld@2.1.0
cargo init --quiet --name titles 2> /dev/null
cargo add --quiet whatlang@=0.18.0 2> /dev/null
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet lingua-language-detector==2.1.1
printf '%s\n' "GitHub Actionsを試す" "Next.jsで作るブログ" "PostgreSQLの話" "React 상태 관리" "JavaScript का परिचय" "検索の話" > titles
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { eld } from "eld";
import { franc } from "franc";
import { detect } from "tinyld";
await eld.load("large");
for (const title of readFileSync("titles", "utf8").trim().split("\n"))
  console.log(`${title}: franc ${franc(title, { minLength: 3 })}, tinyld ${detect(title)}, eld ${eld.detect(title).language}`);
JS
cat > src/main.rs <<'RS'
fn main() {
    for title in std::fs::read_to_string("titles").unwrap().lines() {
        println!("{title}: whatlang {}", whatlang::detect_lang(title).unwrap().code());
    }
}
RS
cat > try.py <<'PY'
from lingua import LanguageDetectorBuilder

detector = LanguageDetectorBuilder.from_all_languages().build()
for title in open("titles").read().splitlines():
    print(f"{title}: lingua {detector.detect_language_of(title).name.lower()}")
PY
{ node try.mjs && cargo run --quiet && venv/bin/python try.py; } | tee seen
diff seen - <<'SEEN'
GitHub Actionsを試す: franc eng, tinyld ja, eld en
Next.jsで作るブログ: franc hms, tinyld ja, eld en
PostgreSQLの話: franc slv, tinyld ja, eld no
React 상태 관리: franc ron, tinyld ko, eld ko
JavaScript का परिचय: franc ekk, tinyld hi, eld hi
検索の話: franc jpn, tinyld ja, eld ja
GitHub Actionsを試す: whatlang eng
Next.jsで作るブログ: whatlang aka
PostgreSQLの話: whatlang slv
React 상태 관리: whatlang ron
JavaScript का परिचय: whatlang est
検索の話: whatlang jpn
GitHub Actionsを試す: lingua zulu
Next.jsで作るブログ: lingua czech
PostgreSQLの話: lingua japanese
React 상태 관리: lingua korean
JavaScript का परिचय: lingua finnish
検索の話: lingua japanese
SEEN
