#!/usr/bin/env bash
# Guess: a page that Back shows from the back-forward cache is as it was left, as `pageshow` with `persisted` says.
# Seen (WebKitGTK 2.50.6, the engine of Safari 26): after `pageshow`, in which it still has its value, a field with
# autocomplete=off is reset to its default. A search box is empty beside its results. Another field keeps its value.
# A listener of `pageshow` that restores the value comes too early; `defaultValue = value` in `pagehide` helps.
# Source: run. Needs webkit2gtk-driver and xvfb of Debian, and Python.
set -euo pipefail
command -v WebKitWebDriver xvfb-run > /dev/null || { echo "install webkit2gtk-driver and xvfb" >&2; exit 1; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet selenium==4.51.0
cat > try.py <<'PY'
import glob, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from selenium import webdriver

PAGE = b"""<!doctype html><title>first</title><input id=off autocomplete=off><input id=on>
<input id=kept autocomplete=off><script>
const values = () => [off, on, kept].map((input) => input.value).join();
addEventListener("pagehide", () => { kept.defaultValue = kept.value });
addEventListener("pageshow", ({ persisted }) => { document.body.dataset.shown = `${persisted} ${values()}` });
</script>"""

class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>second</title>" if self.path == "/second" else PAGE)
    def log_message(self, *args): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/"
options = webdriver.WebKitGTKOptions()
options.binary_location = glob.glob("/usr/lib/*/webkit2gtk-4.1/MiniBrowser")[0]
options.add_argument("--automation")
driver = webdriver.WebKitGTK(options, webdriver.WebKitGTKService("/usr/bin/WebKitWebDriver"))
print("WebKit", driver.capabilities["browserVersion"])
driver.get(url)
driver.execute_script("for (const input of [off, on, kept]) input.value = 'python'")
driver.get(url + "second")
driver.back()
time.sleep(1)
shown = driver.execute_script("return document.body.dataset.shown")
later = driver.execute_script("return values()")
driver.quit()
print(f"pageshow: {shown}; a second later: {later}")
assert shown == "true python,python,python" and later == ",python,python"
PY
xvfb-run -a venv/bin/python -W ignore try.py
