#!/usr/bin/env bash
# One would guess: WordPress' own search finds a post by its title, copied from the page that shows it, or typed from memory.
# What happens: a title is shown with typographic signs (wptexturize) and stored without, and what is searched for are the signs that were typed: each
# of "It’s", "—", "“rye”", "Rye…" and "1920×1080" has to stand in the title or the text as it is, and the post has them as It's, --, "rye", ... and
# 1920x1080. Typed as it was written, "Rye -- a history" asks for posts without any hyphen, as a minus in front of a word (here the second one)
# excludes it; each post made of blocks has hyphens in its <!-- wp:paragraph -->. A single letter is dropped, and + ends a word:
# "C++ and R" asks for "and" only, which is no common word here, and "vitamin C" for vitamin.
# Seen with: WordPress 6.5.5, in PHP 8.3.33 (both from npm): its functions, and the SQL of its query, without a database. Source: 28 queries.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @php-wasm/node-8-3@3.1.56 @php-wasm/universal@3.1.56
npm pack --silent @wp-playground/wordpress-builds@0.9.19 > /dev/null
tar xzf wp-playground-*.tgz package/src/wordpress/wp-6.5.zip
names=(wp-includes/{version,class-wp-hook,plugin,formatting,shortcodes,class-wp-query}.php)
python3 -c 'import sys, zipfile; zipfile.ZipFile("package/src/wordpress/wp-6.5.zip").extractall("wordpress", sys.argv[1:])' "${names[@]}"
cat > try.php <<'PHP'
<?php
define("ABSPATH", "/folder/wordpress/");
define("WPINC", "wp-includes");
echo PHP_VERSION, " ", preg_match("/wp_version = '(.*?)'/", file_get_contents(ABSPATH . "wp-includes/version.php"), $version) ? $version[1] : "", "\n";
foreach (["plugin", "formatting", "shortcodes", "class-wp-query"] as $file) require ABSPATH . "wp-includes/$file.php";
// What else WordPress loads: no translations, nobody logged in, a database that only quotes.
function __($text) { return $text; }
function _x($text) { return $text; }
function get_option() { return "UTF-8"; }
function is_user_logged_in() { return false; }
$wpdb = new class {
    public $posts = "posts";
    function esc_like($text) { return addcslashes($text, '_%\\'); }
    function prepare($sql, ...$values) { return vsprintf(str_replace("%s", "'%s'", $sql), $values); }
};
$search = new ReflectionMethod("WP_Query", "parse_search");
foreach (["It's rye", "Rye -- a history", 'The "rye" mill', "Rye...", "1920x1080 pixels", "C++ and R", "Vitamin C"] as $title) {
    $shown = html_entity_decode(wptexturize($title), ENT_QUOTES | ENT_HTML5);
    foreach (array_unique([$title, $shown]) as $asked) {
        $query = ["s" => $asked, "sentence" => false, "exact" => false];
        preg_match_all("/post_title ((?:NOT )?)LIKE '.*?([^%{}]+)[^']*'/", stripslashes($search->invokeArgs(new WP_Query(), [&$query])), $words, PREG_SET_ORDER);
        echo "$title shown as $shown, asked for as $asked:", implode(array_map(fn($word) => " $word[1]<$word[2]>", $words)), "\n";
    }
}
PHP
cat > try.mjs <<'JS'
import { readFileSync } from "node:fs";
import { getPHPLoaderModule } from "@php-wasm/node-8-3";
import { loadPHPRuntime, PHP } from "@php-wasm/universal";
const php = new PHP(await loadPHPRuntime(await getPHPLoaderModule()));
php.mkdir("/folder/wordpress/wp-includes");
for (const name of ["version", "class-wp-hook", "plugin", "formatting", "shortcodes", "class-wp-query"])
  php.writeFile(`/folder/wordpress/wp-includes/${name}.php`, readFileSync(`wordpress/wp-includes/${name}.php`));
process.stdout.write((await php.run({ code: readFileSync("try.php", "utf8") })).text, () => process.exit(0));
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
8.3.33 6.5.5
It's rye shown as It’s rye, asked for as It's rye: <It's> <rye>
It's rye shown as It’s rye, asked for as It’s rye: <It’s> <rye>
Rye -- a history shown as Rye — a history, asked for as Rye -- a history: <Rye> NOT <-> <history>
Rye -- a history shown as Rye — a history, asked for as Rye — a history: <Rye> <—> <history>
The "rye" mill shown as The “rye” mill, asked for as The "rye" mill: <rye> <mill>
The "rye" mill shown as The “rye” mill, asked for as The “rye” mill: <“rye”> <mill>
Rye... shown as Rye…, asked for as Rye...: <Rye...>
Rye... shown as Rye…, asked for as Rye…: <Rye…>
1920x1080 pixels shown as 1920×1080 pixels, asked for as 1920x1080 pixels: <1920x1080> <pixels>
1920x1080 pixels shown as 1920×1080 pixels, asked for as 1920×1080 pixels: <1920×1080> <pixels>
C++ and R shown as C++ and R, asked for as C++ and R: <and>
Vitamin C shown as Vitamin C, asked for as Vitamin C: <Vitamin>
SEEN
