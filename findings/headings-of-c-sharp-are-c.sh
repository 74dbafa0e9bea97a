#!/usr/bin/env bash
# One would guess: "# Learning C#" is the heading Learning C#, in each Markdown: a row of # that ends a heading has to stand behind a space
# (CommonMark 4.2).
# What happens: Python-Markdown (Pelican, MkDocs), markdown2 and showdown are older than that rule and take the # off: the heading is
# "Learning C", and so is that of a page on F#. MkDocs, which takes the title of a page from there, has it in <title>, in the menu and in
# its search, where C# and C are one page twice, unless the title stands in the front matter. A heading that is underlined, or written
# "C\#", stays.
# Seen with: Markdown 3.11.3, markdown2 2.5.5, MkDocs 1.6.1, showdown 2.1.0; mistune 3.4.0 and markdown-it-py 4.2.0 keep it. Source: one
# heading in six tools, and the pages of a site.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund showdown@2.1.0
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet markdown==3.11.3 markdown2==2.5.5 mkdocs==1.6.1 mistune==3.4.0 markdown-it-py==4.2.0
cat > try.py <<'PY'
import json, pathlib, re, subprocess
import markdown, markdown2, mistune
from markdown_it import MarkdownIt

TEXT = "# Learning C#\n"
print("markdown", markdown.markdown(TEXT))
print("markdown2", markdown2.markdown(TEXT).strip())
print("mistune", mistune.html(TEXT).strip())
print("markdown-it-py", MarkdownIt().render(TEXT).strip())
print("markdown, underlined", markdown.markdown("Learning C#\n==="))
docs = pathlib.Path("docs")
docs.mkdir()
for name, title in (("index", "Mill"), ("c", "Learning C"), ("csharp", "Learning C#")):
    (docs / f"{name}.md").write_text(f"# {title}\n\nRye.\n")
pathlib.Path("mkdocs.yml").write_text("site_name: Blog\n")
subprocess.run(["venv/bin/mkdocs", "build", "--quiet"], check=True)
for name in ("c", "csharp"):
    print("MkDocs", name, re.search("<title>(.*?)</title>", pathlib.Path(f"site/{name}/index.html").read_text())[1])
index = json.loads(pathlib.Path("site/search/search_index.json").read_text())
print("search", sorted(entry["title"] for entry in index["docs"] if "#" not in entry["location"]))
PY
{ node -e 'console.log("showdown", new (require("showdown").Converter)().makeHtml("# Learning C#"))'; venv/bin/python try.py 2> /dev/null; } | tee seen
diff seen - <<'SEEN'
showdown <h1 id="learningc">Learning C</h1>
markdown <h1>Learning C</h1>
markdown2 <h1>Learning C</h1>
mistune <h1>Learning C#</h1>
markdown-it-py <h1>Learning C#</h1>
markdown, underlined <h1>Learning C#</h1>
MkDocs c Learning C - Blog
MkDocs csharp Learning C - Blog
search ['Learning C', 'Learning C', 'Mill']
SEEN
