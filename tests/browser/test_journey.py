"""A person's ten minutes: slide, search, open, go back; with keys, without a script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from palace import opening
from palace.domain.query import Scope
from palace.domain.time import Temporal
from tests.browser.conftest import Open, violations


def drawer_with(text: str) -> str:
    history = Scope(Temporal.history())
    return opening.recall().search(text, filter=history).hits[0].drawer.id


def press(page: Page, key: str, times: int) -> None:
    for _ in range(times):
        page.keyboard.press(key)


def test_ten_presses_are_at_most_two_requests(visit: Open):
    page = visit("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#t").focus()
    press(page, "ArrowLeft", 10)
    expect(page.locator("#past")).to_contain_text("As of")
    expect(page).to_have_url(re.compile(r"\?as_of=2026-\d\d-\d\d$"))
    assert len([url for url in asked if "t=" in url]) <= 2
    expect(page.locator("#t")).to_be_focused()


def test_sliding_moves_all_parts_together(visit: Open):
    page = visit("/wings/Ferry/")
    before = page.locator("#tree .tree-when").inner_text()
    page.locator("#t").focus()
    page.keyboard.press("Home")
    expect(page.locator("#past")).to_be_visible()
    when = page.locator("#when strong").inner_text()
    expect(page.locator("#tree .tree-when")).to_contain_text(when)
    expect(page.locator("#heard")).to_contain_text(when)
    assert page.locator("#tree .tree-when").inner_text() != before
    expect(page.locator("#brand")).to_have_attribute("href", re.compile("as_of="))
    page.keyboard.press("End")
    expect(page.locator("#past")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/wings/Ferry/$"))


def test_back_restores_page_and_bar(visit: Open):
    page = visit("/search/?q=tide")
    page.locator("#t").focus()
    press(page, "ArrowLeft", 20)
    expect(page.locator("#past")).to_be_visible()
    url = page.url
    value = page.locator("#t").input_value()
    hits = page.locator(".hit").count()
    page.locator(".hit h3 a").first.click()
    expect(page.locator(".drawer")).to_be_visible()
    assert "as_of=" in page.url
    page.go_back()
    expect(page).to_have_url(url)
    expect(page.locator(".hit")).to_have_count(hits)
    expect(page.locator("#t")).to_have_value(value)
    expect(page.locator("#past")).to_be_visible()


def test_single_keys_in_the_bar_and_everywhere_once_switched_on(visit: Open):
    page = visit("/")
    page.locator("body").press("[")
    expect(page).to_have_url(re.compile(r"/$"))
    page.locator("#t").focus()
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile("as_of="))
    page.locator("#bar-more summary").click()
    page.get_by_label("Keys").check()
    page.keyboard.press("Escape")
    page.locator("#main").focus()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/$"))


def test_the_journey_without_a_script(visit: Open):
    page = visit("/", java_script_enabled=False)
    page.get_by_role("searchbox").fill("tide import")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("h1")).to_contain_text("for")
    page.locator("#bar-more summary").click()
    page.get_by_label("Instant, UTC unless it names a zone").fill("2026-02-01")
    page.locator("#bar-more form").first.get_by_role("button").click()
    expect(page.locator("#past")).to_contain_text("As of 1 February 2026")
    page.locator(".hit h3 a").first.click()
    expect(page.locator(".drawer")).to_contain_text("noon")
    page.get_by_role("link", name="Back to now").click()
    expect(page.locator(".standing")).to_contain_text("Replaced")
    page.get_by_role("link", name="See what replaced it").click()
    page.get_by_role("link", name=re.compile("history")).first.click()
    expect(page.locator(".version")).to_have_count(3)


def test_an_exact_instant_and_a_window(visit: Open):
    page = visit("/search/")
    page.locator("#bar-more summary").click()
    page.get_by_label("From", exact=True).fill("2026-02-01")
    page.get_by_label("Until", exact=True).fill("2026-03-01")
    page.get_by_label("Until", exact=True).press("Enter")
    expect(page.locator("#past")).to_contain_text("Between")
    expect(page).to_have_url(re.compile("from=2026-02-01&until=2026-03-01"))


def pages() -> list[str]:
    return [
        "/",
        "/?as_of=2020-01-01",
        "/search/?q=tide+import&as_of=2026-04-01",
        "/search/?history=1",
        "/search/?q=nothingofit",
        "/wings/Ferry/",
        "/wings/Kiosk%20~2F%20Harbour/rooms/notes/",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", pages())
def test_pages_are_accessible(visit: Open, path: str, scheme: str):
    assert violations(visit(path, scheme=scheme)) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_drawer_and_history_are_accessible(visit: Open, scheme: str, width: int):
    ident = drawer_with("noon")
    for path in (f"/drawers/{ident}/", f"/drawers/{ident}/history/", f"/drawers/{ident}/?view=raw"):
        page = visit(path, scheme=scheme, width=width)
        assert violations(page) == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
def test_nothing_is_wider_than_the_window(visit: Open, width: int):
    ident = drawer_with("noon")
    for path in ("/", "/search/?q=tide", f"/drawers/{ident}/", f"/drawers/{ident}/history/"):
        page = visit(path, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_errors_are_pages_too(browser, site):
    for path in ("/nothing/", "/search/?as_of=yesterday", "/drawers/none/"):
        page = browser.new_page()
        page.goto(site + path)
        assert violations(page) == []
        page.close()


def test_a_first_load_is_light(browser, site):
    page = browser.new_page()
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(response.request.sizes()["responseBodySize"]))
    page.goto(site + "/search/?q=tide")
    page.wait_for_load_state("networkidle")
    page.close()
    assert 0 < sum(sizes) <= 100_000
