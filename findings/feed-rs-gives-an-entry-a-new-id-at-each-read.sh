#!/usr/bin/env bash
# One would guess: feed-rs, Rust's usual reader of feeds, which gives each entry an id, gives it the same one each time that the feed is read, as it
# does for entries with a link.
# What happens: an item of RSS with neither <guid> nor <link> (which the format allows, as it has a description) gets a random one: who goes by the
# ids has it anew at each read, and a search index has as many copies as there were reads. Of the dates that feeds have, "09:30:00 CET", a day with a
# time and no T, and a time without seconds are none at all, without a word, and 24:00:00 is the midnight a day too early.
# A title with an element in it ends there ("Why <b>einkorn</b> bread" is "Why").
# Seen with: feed-rs 3.0.0. Source: 20 dates, six titles, items without each of their fields.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cargo init --quiet --name read 2> /dev/null
pin=feed-rs@3.0.0
cargo add --quiet --no-default-features "${pin/@/@=}" 2> /dev/null # exactly this version
cat > src/main.rs <<'RS'
fn main() {
    let items = [
        "<title>Rye</title><link>https://example.org/rye</link><pubDate>Wed, 04 Mar 2026 09:30:00 +0100</pubDate>",
        "<title>Oats</title><description>Oats.</description><pubDate>Wed, 04 Mar 2026 09:30:00 EST</pubDate>",
        "<title>Spelt</title><guid>3</guid><pubDate>Wed, 04 Mar 2026 09:30:00 CET</pubDate>",
        "<title>Emmer</title><guid>4</guid><pubDate>2026-03-04 09:30:00</pubDate>",
        "<title>Teff</title><guid>5</guid><pubDate>2026-03-04T09:30Z</pubDate>",
        "<title>Barley</title><guid>6</guid><pubDate>Wed, 04 Mar 2026 24:00:00 GMT</pubDate>",
        "<title>Why <b>einkorn</b> bread</title><guid>7</guid>",
    ];
    let feed = format!("<rss version='2.0'><channel><title>Mill</title><item>{}</item></channel></rss>", items.join("</item><item>"));
    let read = || feed_rs::parser::parse(feed.as_bytes()).unwrap().entries;
    for (first, second) in read().into_iter().zip(read()) {
        let same = if first.id == second.id { "the same" } else { "another" };
        let date = first.published.map_or("none".to_string(), |date| date.to_rfc3339());
        println!("{}: date {date}, {same} id", first.title.unwrap().content);
    }
}
RS
CARGO_TARGET_DIR=target cargo run --quiet | tee seen
diff seen - <<'SEEN'
Rye: date 2026-03-04T08:30:00+00:00, the same id
Oats: date 2026-03-04T14:30:00+00:00, another id
Spelt: date none, the same id
Emmer: date none, the same id
Teff: date none, the same id
Barley: date 2026-03-04T00:00:00+00:00, the same id
Why: date none, the same id
SEEN
