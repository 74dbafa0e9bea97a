#!/usr/bin/env bash
# One would guess: two crates that make plain text of HTML, one of them with a decorator that promises no decoration, leave the words of a page,
# at most with other line breaks.
# What happens: html2text puts U+0336 (a stroke) behind each letter of <del> and <s>, also with `plain_no_decorate`: "gone" is eight
# characters that no search finds, and 1st is "1^{st}". Cells side by side stay so: a sentence that is wrapped in the second column has a
# bar, and the words of its neighbour, in it. nanohtml2text, a port of a Go library, copies what is in <pre> as it is, tags
# and entities too: each block of code that a generator makes (<pre><code class=…>) brings its markup along as words, and Vec&lt;T&gt; is not
# Vec<T> there.
# Seen with: html2text 0.17.4, nanohtml2text 0.3.0. Source: 30 pieces of HTML, of which seven are shown.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cargo init --quiet --name seen
for pin in html2text@0.17.4 nanohtml2text@0.3.0; do
  cargo add --quiet "${pin/@/@=}"
done
cat > src/main.rs <<'RS'
fn main() {
    let pieces = [
        "<p>It is <del>gone</del> now</p>", "<s>old</s>", "the 1<sup>st</sup> of x<sup>2</sup>",
        "<pre><code class=\"language-rust\">let a: Vec&lt;T&gt;;</code></pre>", "<pre><span class=\"k\">let</span> b</pre>",
        "<table><tr><td>Rye is a grain of the north</td><td>Oats are fed to horses there</td></tr></table>", "<p>Vec&lt;T&gt;</p>",
    ];
    for piece in pieces {
        let plain = html2text::config::plain_no_decorate().string_from_read(piece.as_bytes(), 40).unwrap();
        println!("{piece}\n  html2text {plain:?}\n  nanohtml2text {:?}", nanohtml2text::html2text(piece));
    }
}
RS
cargo run --quiet | tee seen
diff seen - <<'SEEN'
<p>It is <del>gone</del> now</p>
  html2text "It is g\u{336}o\u{336}n\u{336}e\u{336} now\n"
  nanohtml2text "It is gone now\r\n\r\n"
<s>old</s>
  html2text "o\u{336}l\u{336}d\u{336}\n"
  nanohtml2text "old"
the 1<sup>st</sup> of x<sup>2</sup>
  html2text "the 1^{st} of x²\n"
  nanohtml2text "the 1st of x2"
<pre><code class="language-rust">let a: Vec&lt;T&gt;;</code></pre>
  html2text "let a: Vec<T>;\n"
  nanohtml2text "<code class=\"language-rust\">let a: Vec&lt;T&gt;;</code>"
<pre><span class="k">let</span> b</pre>
  html2text "let b\n"
  nanohtml2text "<span class=\"k\">let</span> b"
<table><tr><td>Rye is a grain of the north</td><td>Oats are fed to horses there</td></tr></table>
  html2text "───────────────────┬────────────────────\nRye is a grain of  │Oats are fed to     \nthe north          │horses there        \n───────────────────┴────────────────────\n"
  nanohtml2text "Rye is a grain of the north\r\nOats are fed to horses there\r\n"
<p>Vec&lt;T&gt;</p>
  html2text "Vec<T>\n"
  nanohtml2text "Vec<T>\r\n\r\n"
SEEN
