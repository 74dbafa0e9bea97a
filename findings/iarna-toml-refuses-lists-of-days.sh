#!/usr/bin/env bash
# One would guess: @iarna/toml, which says that it follows TOML 1.0, reads front matter with a time of day or a list of days.
# What happens: a time without a fraction takes the end of its line with it, so that the next line is an error: "a = 09:30:00" and "b = 1"
# cannot follow each other, while 09:30:00.5 can, and a comment between them mends it. A day is read at the end of a line only: in a
# list ([2026-03-04, 2026-03-05]) or an inline table it is "Incomplete datetime". A site whose front matter it reads does not build, though
# other readers of TOML take the file.
# Seen with: @iarna/toml 3.0.0, smol-toml 1.9.1, toml 5.0.1. Source: 14 lines of front matter.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @iarna/toml@3.0.0 smol-toml@1.9.1 toml@5.0.1
cat > try.mjs <<'JS'
import iarna from "@iarna/toml";
import { parse } from "smol-toml";
import toml from "toml";
const read = (reader, text) => {
  try {
    return JSON.stringify(reader(text));
  } catch (error) {
    return error.message.split(/ at row|\n/)[0];
  }
};
for (const text of ["a = 09:30:00\nb = 1\n", "a = 09:30:00.5\nb = 1\n", "a = 09:30:00 # noon\nb = 1\n", "a = [2026-03-04, 2026-03-05]\n", "a = [2026-03-04 , 2026-03-05 ]\n",
  "a = { day = 2026-03-04 }\n", "a = {day = 2026-03-04}\n", "a = 2026-03-04\nb = 1\n"])
  console.log(`${JSON.stringify(text)}: @iarna/toml ${read(iarna.parse, text)}; smol-toml ${read(parse, text)}; toml ${read(toml.parse, text)}`);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
"a = 09:30:00\nb = 1\n": @iarna/toml Unexpected character, expected only whitespace or comments till end of line; smol-toml {"a":"09:30:00.000","b":1}; toml {"a":"09:30:00","b":1}
"a = 09:30:00.5\nb = 1\n": @iarna/toml {"a":"09:30:00.500","b":1}; smol-toml {"a":"09:30:00.500","b":1}; toml {"a":"09:30:00.5","b":1}
"a = 09:30:00 # noon\nb = 1\n": @iarna/toml {"a":"09:30:00.000","b":1}; smol-toml {"a":"09:30:00.000","b":1}; toml {"a":"09:30:00","b":1}
"a = [2026-03-04, 2026-03-05]\n": @iarna/toml Incomplete datetime; smol-toml {"a":["2026-03-04","2026-03-05"]}; toml {"a":["2026-03-04","2026-03-05"]}
"a = [2026-03-04 , 2026-03-05 ]\n": @iarna/toml Incomplete datetime; smol-toml {"a":["2026-03-04","2026-03-05"]}; toml {"a":["2026-03-04","2026-03-05"]}
"a = { day = 2026-03-04 }\n": @iarna/toml Incomplete datetime; smol-toml {"a":{"day":"2026-03-04"}}; toml {"a":{"day":"2026-03-04"}}
"a = {day = 2026-03-04}\n": @iarna/toml Incomplete datetime; smol-toml {"a":{"day":"2026-03-04"}}; toml {"a":{"day":"2026-03-04"}}
"a = 2026-03-04\nb = 1\n": @iarna/toml {"a":"2026-03-04","b":1}; smol-toml {"a":"2026-03-04","b":1}; toml {"a":"2026-03-04","b":1}
SEEN
