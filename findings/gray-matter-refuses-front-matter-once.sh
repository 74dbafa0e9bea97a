#!/usr/bin/env bash
# One would guess: front matter that cannot be parsed is an error each time that the file is read.
# What happens: gray-matter keeps what it was given in a cache, before it parses it. The same text is an error once; from then on it
# is a post without front matter, whose text begins with "---" and all the fields. Where a tool goes on after the error (a server that
# builds anew when a file is saved, a second reader of the folder, a `try` around the first), a draft is a post without a date and a
# title, and is published and searched. What a caller changes in `data` is kept, too, for the next one that reads the same text. Any
# second argument, such as {}, keeps it from using the cache.
# Seen with: gray-matter 4.0.3; front-matter 4.0.2 fails each time. Source: a title with a colon, read three times.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund gray-matter@4.0.3 front-matter@4.0.2
cat > try.mjs <<'JS'
import frontMatter from "front-matter";
import matter from "gray-matter";
const post = "---\ntitle: Rye: a draft\ndraft: true\n---\nNot yet.\n";
const readers = {
  "gray-matter": () => matter(post),
  "gray-matter with {}": () => matter(post, {}),
  "front-matter": () => { const { attributes: data, body: content } = frontMatter(post); return { data, content }; },
};
for (const [name, read] of Object.entries(readers)) {
  for (const time of [1, 2, 3]) {
    try {
      const { data, content } = read();
      console.log(name, time, JSON.stringify(data), JSON.stringify(content));
    } catch (error) {
      console.log(name, time, error.name);
    }
  }
}
const good = "---\ntags: [rye]\n---\nMilled.\n";
matter(good).data.tags.push("from a template");
console.log(matter(good).data, matter(good, {}).data);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
gray-matter 1 YAMLException
gray-matter 2 {} "---\ntitle: Rye: a draft\ndraft: true\n---\nNot yet.\n"
gray-matter 3 {} "---\ntitle: Rye: a draft\ndraft: true\n---\nNot yet.\n"
gray-matter with {} 1 YAMLException
gray-matter with {} 2 YAMLException
gray-matter with {} 3 YAMLException
front-matter 1 YAMLException
front-matter 2 YAMLException
front-matter 3 YAMLException
{ tags: [ 'rye', 'from a template' ] } { tags: [ 'rye' ] }
SEEN
