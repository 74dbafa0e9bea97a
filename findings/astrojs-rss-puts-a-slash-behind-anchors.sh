#!/usr/bin/env bash
# One would guess: the links of a feed are those that were given to it, made absolute by the site's address.
# What happens: @astrojs/rss puts a slash at the end of each link whose last part has no dot, whatever it is: "/notes/#rye" becomes
# "/notes/#rye/", which is no anchor of that page, and "/post?id=1" asks for "1/". A post at /v1.2, on a site whose pages all end with a
# slash, gets none, so that link and guid are not the page's address. And `site` with a folder (GitHub Pages) loses it
# in links that begin with a slash, though the channel's own link keeps it. `trailingSlash: false` leaves links as they are, but
# not those with a slash, from which it is taken.
# Seen with: @astrojs/rss 4.0.19. Source: links of several kinds in one feed.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @astrojs/rss@4.0.19
cat > try.mjs <<'JS'
import rss from "@astrojs/rss";
const links = ["/rye", "/notes/#rye", "/post?id=1", "/v1.2", "/rye.html", "oats/", "https://other.example.org/rye"];
for (const trailingSlash of [true, false]) {
  for (const site of ["https://blog.example.org", "https://blog.example.org/mill/"]) {
    const items = links.map((link) => ({ title: link, link }));
    const feed = await (await rss({ title: "Mill", description: "All", site, items, trailingSlash })).text();
    const [channel, ...found] = [...feed.matchAll(/<link>(.*?)<\/link>/g)].map((match) => match[1]);
    console.log(`${site}, trailingSlash ${trailingSlash}: ${channel}`);
    found.forEach((link, number) => console.log(`  ${links[number]}: ${link}`));
  }
}
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
https://blog.example.org, trailingSlash true: https://blog.example.org/
  /rye: https://blog.example.org/rye/
  /notes/#rye: https://blog.example.org/notes/#rye/
  /post?id=1: https://blog.example.org/post?id=1/
  /v1.2: https://blog.example.org/v1.2
  /rye.html: https://blog.example.org/rye.html
  oats/: https://blog.example.org/oats/
  https://other.example.org/rye: https://other.example.org/rye
https://blog.example.org/mill/, trailingSlash true: https://blog.example.org/mill/
  /rye: https://blog.example.org/rye/
  /notes/#rye: https://blog.example.org/notes/#rye/
  /post?id=1: https://blog.example.org/post?id=1/
  /v1.2: https://blog.example.org/v1.2
  /rye.html: https://blog.example.org/rye.html
  oats/: https://blog.example.org/mill/oats/
  https://other.example.org/rye: https://other.example.org/rye
https://blog.example.org, trailingSlash false: https://blog.example.org
  /rye: https://blog.example.org/rye
  /notes/#rye: https://blog.example.org/notes/#rye
  /post?id=1: https://blog.example.org/post?id=1
  /v1.2: https://blog.example.org/v1.2
  /rye.html: https://blog.example.org/rye.html
  oats/: https://blog.example.org/oats
  https://other.example.org/rye: https://other.example.org/rye
https://blog.example.org/mill/, trailingSlash false: https://blog.example.org/mill
  /rye: https://blog.example.org/rye
  /notes/#rye: https://blog.example.org/notes/#rye
  /post?id=1: https://blog.example.org/post?id=1
  /v1.2: https://blog.example.org/v1.2
  /rye.html: https://blog.example.org/rye.html
  oats/: https://blog.example.org/mill/oats
  https://other.example.org/rye: https://other.example.org/rye
SEEN
