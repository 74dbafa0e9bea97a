#!/usr/bin/env bash
# One would guess: a search box is :focus-within while the focus is anywhere inside of it, also on a result of its open list.
# What happens: since Chromium 149 that ends at the top layer. If the list is an open popover, or a modal dialog, the focus inside of it
# counts for the list, but neither for the box around it nor for the body. :has(:focus) still matches all of them. A list of results that
# moves to the top layer, so that no header clips it, and is hidden unless its box is :focus-within, closes when a visitor takes a result with
# the keyboard or opens a filter. Chromium 148 and Firefox 153 match. The same goes for :hover and :active.
# Seen with: Chromium 148.0.7778 and 153.0.8010. Source: Selectors 4, "user action pseudo-classes"; csswg-drafts#11185, #14143.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund puppeteer-core@25.16.0 \
  before@npm:@sparticuz/chromium@148.0.0 after@npm:@sparticuz/chromium@153.0.0
cat > try.mjs <<'JS'
import puppeteer from "puppeteer-core";
const { default: chromium } = await import(process.argv[2]);
const browser = await puppeteer.launch({ executablePath: await chromium.executablePath(), args: chromium.args, headless: "shell" });
console.log((await browser.version()).replace(/\.\d+\.\d+$/, ""));
const page = await browser.newPage();
for (const [list, open] of [["div", "className"], ["div popover", "showPopover"], ["dialog", "showModal"]]) {
  await page.setContent(`<!doctype html><form><input><${list} id="list"><a href="/rye">Rye</a></${list.split(" ")[0]}></form>`);
  const matched = await page.evaluate((open) => {
    const found = document.querySelector("#list");
    found[open]?.call?.(found);
    document.querySelector("a").focus();
    const all = [found, document.querySelector("form"), document.body];
    return [":focus-within", ":has(:focus)"].map((selector) => `${selector} ${all.filter((one) => one.matches(selector)).map((one) => one.localName)}`);
  }, open);
  console.log(`${list}: ${matched.join("; ")}`);
}
await browser.close();
JS
for name in before after; do
  mkdir "$name" && TMPDIR="$folder/$name" node try.mjs "$name"
done | tee seen
diff seen - <<'SEEN'
HeadlessChrome/148.0
div: :focus-within div,form,body; :has(:focus) div,form,body
div popover: :focus-within div,form,body; :has(:focus) div,form,body
dialog: :focus-within dialog,form,body; :has(:focus) dialog,form,body
HeadlessChrome/153.0
div: :focus-within div,form,body; :has(:focus) div,form,body
div popover: :focus-within div; :has(:focus) div,form,body
dialog: :focus-within dialog; :has(:focus) dialog,form,body
SEEN
