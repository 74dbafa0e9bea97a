"""`debug-search` on the page: a table that a person can read."""

import json
import re
from dataclasses import replace

from playwright.sync_api import Page, expect

from app import create_app
from app.settings import Settings


def test_words_variants_synonyms_and_scores(page: Page, address: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
    page.goto(f"{address}/?q=pythn+colour+format&debug-search")
    debug = page.get_by_role("region", name="How this answer came about")
    row = debug.get_by_role("row", name=re.compile("pythn"))
    for cell in ("python", "spelling", "0.7"):
        expect(row).to_contain_text(cell)
    expect(debug).to_contain_text(re.compile(r"british-american\.synonyms:\d+"))
    expect(debug).to_contain_text("It scores most")
    expect(debug.locator(".scores > li").first).to_contain_text("Matched: pythn (as python)")
    expect(debug.locator(".scores > li").first).to_contain_text("Missing: colour")
    page.locator(".body summary").first.click()
    button = page.locator(".body button").first
    button.click()
    expect(button).to_have_text("Copied")
    assert "query" in json.loads(page.evaluate("navigator.clipboard.readText()"))
    # It follows what is typed.
    page.get_by_role("searchbox").fill("juggling")
    expect(page.get_by_role("row", name=re.compile("juggling"))).to_be_visible()
    expect(page.locator(".body button").first).to_have_text("Copy")


def test_the_fallback_strategy_is_explained_too(settings: Settings) -> None:
    fallback = replace(settings, strategy="fallback")
    response = create_app(fallback).test_client().get("/?q=pythn&debug-search")
    assert response.status_code == 200
    assert "fallback" in response.text
    assert "match_phrase" in response.text
