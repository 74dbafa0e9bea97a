"""`debug-search` on the page: a table that a person can read."""

import json
import re
from dataclasses import replace
from typing import Any

from playwright.sync_api import Browser, Page, expect

from app import create_app
from app.settings import Settings


def test_words_variants_synonyms_and_scores(page: Page, address: str) -> None:
    page.goto(f"{address}/?q=pythn+colour+format&debug-search")
    debug = page.get_by_role("region", name="How this answer came about")
    row = debug.get_by_role("row", name=re.compile("pythn"))
    for cell in ("python", "spelling", "0.7"):
        expect(row).to_contain_text(cell)
    expect(debug).to_contain_text(re.compile(r"british-american\.synonyms:\d+"))
    expect(debug).to_contain_text("It scores most")
    expect(debug.locator(".scores > li").first).to_contain_text("Matched: pythn (as python)")
    expect(debug.locator(".scores > li").first).to_contain_text("Missing: colour")
    # It follows what is typed.
    page.get_by_role("searchbox").fill("juggling")
    expect(page.get_by_role("row", name=re.compile("juggling"))).to_be_visible()
    expect(page.locator(".body button").first).to_have_text("Copy")


def test_a_request_can_be_copied(browser: Browser, address: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/?q=python&debug-search")
    page.locator(".body summary").first.click()
    button = page.locator(".body button").first
    button.click()
    expect(button).to_have_text("Copied")
    copied: dict[str, Any] = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert "query" in copied
    context.close()


def test_without_javascript_requests_are_text(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/?q=python&debug-search")
    page.locator(".body summary").first.click()
    expect(page.locator(".body pre").first).to_contain_text('"query"')
    expect(page.locator("#debug button")).to_have_count(0)
    context.close()


def test_it_needs_a_token_where_the_setting_says_so(settings: Settings) -> None:
    token = "a-token-for-these-tests"
    closed = replace(settings, debug_search="token", write_tokens=token)
    client = create_app(closed).test_client()
    refused = client.get("/?q=python&debug-search")
    assert refused.status_code == 401
    assert "How this answer came about" not in refused.text
    allowed = client.get("/?q=python&debug-search", headers={"Authorization": f"Bearer {token}"})
    assert "How this answer came about" in allowed.text
    assert allowed.headers["Cache-Control"] == "no-store"


def test_the_fallback_strategy_is_explained_too(settings: Settings) -> None:
    fallback = replace(settings, strategy="fallback")
    response = create_app(fallback).test_client().get("/?q=pythn&debug-search")
    assert response.status_code == 200
    assert "fallback" in response.text
    assert "match_phrase" in response.text
