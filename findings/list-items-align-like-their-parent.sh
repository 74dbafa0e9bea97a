#!/usr/bin/env bash
# Guess: an English list item (dir=ltr) in a list on a Hebrew page is aligned left, as text-align has the initial value
# `start` and nobody has changed it.
# Seen: Chromium 156 does so. Firefox 153 aligns it right, as its own style sheet has `li { text-align: match-parent }`, which
# is resolved with the direction of the list: a hit in another direction has its text at the wrong side.
# `li { text-align: start }` helps. WebKitGTK 2.50 does as Firefox.
# Source: run. Needs firefox-esr and geckodriver, and Python.
set -euo pipefail
command -v firefox-esr geckodriver > /dev/null || { echo "install firefox-esr and geckodriver" >&2; exit 1; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet selenium==4.51.0
cat > try.py <<'PY'
import shutil
from selenium import webdriver

PAGE = "data:text/html,<!doctype html><html dir=rtl><ul><li dir=ltr>A hit</li></ul><div dir=ltr>A hit</div>"
options = webdriver.FirefoxOptions()
options.add_argument("-headless")
options.binary_location = shutil.which("firefox-esr")
driver = webdriver.Firefox(options, webdriver.FirefoxService(shutil.which("geckodriver")))
print("Firefox", driver.capabilities["browserVersion"])
driver.get(PAGE)
seen = {
    tag: driver.execute_script(f"return getComputedStyle(document.querySelector('{tag}')).textAlign")
    for tag in ("li", "div")
}
driver.quit()
print(seen)
assert seen == {"li": "right", "div": "start"}
PY
venv/bin/python try.py
