#!/usr/bin/env bash
# One would guess: newspaper4k takes the name of the site off <title>, and where <title> and <h1> say the same, that is the title.
# What happens: a slash parts a title from a site's name to it, with or without spaces, where no " | " or " - " stands in it: "TCP/IP" is
# TCP, "AC/DC" AC, "Client/server explained" "server explained", and "TCP/IP for all – Mill" loses its TCP instead of Mill, whatever <h1>
# says. The longest part wins: on a blog whose name stands first, a short title ("Mill | Go") is the name of the blog.
# Seen with: newspaper4k 0.9.6. Source: pages with the same words in <title> and <h1>.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet newspaper4k==0.9.6
cat > try.py <<'PY'
import newspaper

TEXT = "Rye is milled between two stones, and the flour is sifted with care, so that bran and meal part, many times over. " * 6
for whole, title in (
    ("TCP/IP", "TCP/IP"), ("AC/DC", "AC/DC"), ("Client/server explained", "Client/server explained"), ("TCP/IP for all – Mill", "TCP/IP for all"),
    ("TCP/IP for all | Mill", "TCP/IP for all"), ("Open 24/7", "Open 24/7"), ("Mill | Go", "Go"), ("Mill | Rye bread", "Rye bread"),
):
    page = f"""<html lang="en"><head><title>{whole}</title></head>
      <body><article><h1>{title}</h1><p>{TEXT}</p><p>{TEXT}</p></article></body></html>"""
    article = newspaper.Article("https://blog.example.org/x.html", language="en")
    article.download(input_html=page)
    article.parse()
    print(f"{whole} -> {article.title}")
PY
venv/bin/python try.py 2> /dev/null | tee seen
diff seen - <<'SEEN'
TCP/IP -> TCP
AC/DC -> AC
Client/server explained -> server explained
TCP/IP for all – Mill -> IP for all – Mill
TCP/IP for all | Mill -> TCP/IP for all
Open 24/7 -> Open 24
Mill | Go -> Mill
Mill | Rye bread -> Rye bread
SEEN
