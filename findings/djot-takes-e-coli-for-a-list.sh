#!/usr/bin/env bash
# One would guess: Djot, which was made as a Markdown without surprises, leaves a plain sentence alone, as CommonMark does, and
# snake_case too, as it says that it has simpler rules for emphasis.
# What happens: one letter and a point, or in parentheses, begins a list, also a Roman numeral: "E. coli is harmless" is an item with the
# text "coli is harmless", number 5, "C. elegans" and "(C) 2026 Ann Mill" are item 100, and "J. Doe wrote" item 10. Letter and
# parentheses are in no text that is made of the HTML, so that the name is not found. _ and * mark emphasis inside words: snake_case_name is
# snake, case and name, without the signs. --help has a dash (–help) in text. Both implementations agree.
# Seen with: @djot/djot 0.3.2, the crate jotdown 0.10.0. Source: 45 sentences; its page of syntax has lists with letters, and none of these.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @djot/djot@0.3.2
cargo init --quiet --name pieces 2> /dev/null
cargo add --quiet jotdown@=0.10.0 2> /dev/null
cat > pieces <<'DJOT'
E. coli is harmless
C. elegans is a worm
(C) 2026 Ann Mill
J. Doe wrote
snake_case_name and a*b*c
try --help
1986. A good year
At 10:30 now
DJOT
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { parse, renderHTML } from "@djot/djot";
for (const piece of readFileSync("pieces", "utf8").trim().split("\n")) console.log("djot", renderHTML(parse(piece)).replace(/\s*\n\s*/g, ""));
JS
cat > src/main.rs <<'RS'
fn main() {
    for piece in std::fs::read_to_string("pieces").unwrap().lines() {
        println!("jotdown {}", jotdown::html::render_to_string(jotdown::Parser::new(piece)).replace('\n', ""));
    }
}
RS
{ node try.mjs && cargo run --quiet; } | tee seen
diff seen - <<'SEEN'
djot <ol start="5" type="A"><li>coli is harmless</li></ol>
djot <ol start="100" type="I"><li>elegans is a worm</li></ol>
djot <ol start="100" type="I"><li>2026 Ann Mill</li></ol>
djot <ol start="10" type="A"><li>Doe wrote</li></ol>
djot <p>snake<em>case</em>name and a<strong>b</strong>c</p>
djot <p>try –help</p>
djot <ol start="1986"><li>A good year</li></ol>
djot <p>At 10:30 now</p>
jotdown <ol start="5" type="A"><li>coli is harmless</li></ol>
jotdown <ol start="100" type="I"><li>elegans is a worm</li></ol>
jotdown <ol start="100" type="I"><li>2026 Ann Mill</li></ol>
jotdown <ol start="10" type="A"><li>Doe wrote</li></ol>
jotdown <p>snake<em>case</em>name and a<strong>b</strong>c</p>
jotdown <p>try –help</p>
jotdown <ol start="1986"><li>A good year</li></ol>
jotdown <p>At 10:30 now</p>
SEEN
