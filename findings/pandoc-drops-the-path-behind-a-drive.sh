#!/usr/bin/env bash
# One would guess: Pandoc's Markdown, in which Quarto, R Markdown and Hakyll write posts, leaves a backslash before a letter as it is, as CommonMark does,
# since it escapes punctuation only.
# What happens: a backslash and the letters behind it are a command of LaTeX, and left out of HTML and of plain text, without a warning: "C:\Users\ann\notes.txt"
# is "C:.txt", "path\to\file" is path, DOMAIN\user DOMAIN, and "the regex \d+ and \w" has neither. The reader of Org mode does the
# same. With -raw_tex, as gfm or as commonmark_x they are kept, as is what stands in `code`.
# Seen with: pandoc 3.9 (pypandoc_binary 1.17). Source: 21 sentences; its manual has the extension raw_tex, which is on.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet pypandoc_binary==1.17
cat > try.py <<'PY'
import pypandoc

print(pypandoc.get_pandoc_version())
for text in [r"Copy it to C:\tools\bin now", r"C:\Users\ann\notes.txt", r"path\to\file", r"DOMAIN\user", r"The regex \d+ and \w", r"`C:\tools`"]:
    shown = [f"{name} {pypandoc.convert_text(text, to, format=name).strip()}" for name, to in
             [("markdown", "plain"), ("org", "plain"), ("markdown-raw_tex", "plain"), ("gfm", "plain"), ("markdown", "html")]]
    print(f"{text}: {' | '.join(shown)}")
PY
venv/bin/python try.py 2> log | tee seen
cat log
diff seen - <<'SEEN'
3.9
Copy it to C:\tools\bin now: markdown Copy it to C:now | org Copy it to C: now | markdown-raw_tex Copy it to C:\tools\bin now | gfm Copy it to C:\tools\bin now | markdown <p>Copy it to C:now</p>
C:\Users\ann\notes.txt: markdown C:.txt | org C:.txt | markdown-raw_tex C:\Users\ann\notes.txt | gfm C:\Users\ann\notes.txt | markdown <p>C:.txt</p>
path\to\file: markdown path | org path→ | markdown-raw_tex path\to\file | gfm path\to\file | markdown <p>path</p>
DOMAIN\user: markdown DOMAIN | org DOMAIN | markdown-raw_tex DOMAIN\user | gfm DOMAIN\user | markdown <p>DOMAIN</p>
The regex \d+ and \w: markdown The regex and | org The regex and | markdown-raw_tex The regex \d+ and \w | gfm The regex \d+ and \w | markdown <p>The regex and </p>
`C:\tools`: markdown C:\tools | org `C:` | markdown-raw_tex C:\tools | gfm C:\tools | markdown <p><code>C:\tools</code></p>
SEEN
