"""A real browser over the real server: Debian's Chromium driven by Playwright."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from palace import opening
from palace.sources.importer import import_rows
from palace.sources.planning import Options
from palace.sources.report import ImportReport

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
Open = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM is None:
        for item in items:
            if "tests/browser" in str(item.path):
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Playwright keeps an event loop in this thread; Django would take that for async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def rows() -> list[dict[str, Any]]:
    """Two wings, a chain of three, an end, Japanese, a name that is hard to write."""
    chain = [
        {
            "wing": "Ferry",
            "room": "tides",
            "key": "source",
            "name": "tide-source",
            "content": f"# Tide tables, part {part}\n\nThe **import** reads the table of {part}.",
            "valid_from": day,
            "tags": ["import"],
        }
        for part, day in (("noon", "2026-01-05"), ("one", "2026-03-05"), ("two", "2026-06-05"))
    ]
    notes = [
        {
            "wing": "Ferry" if number % 2 else "Kiosk / Harbour",
            "room": "notes",
            "content": f"# Note {number}\n\nA note about the tide, number {number}.",
            "valid_from": f"2026-{number % 11 + 1:02d}-11",
            "tags": ["note"],
            "source": {"kind": "note", "agent": "quay"},
        }
        for number in range(40)
    ]
    ended = {
        "wing": "Ferry",
        "room": "tides",
        "content": "Berth 7 is closed.",
        "valid_from": "2026-02-01",
        "valid_to": "2026-04-01",
        "close_reason": "spring",
    }
    japanese = {
        "wing": "Ferry",
        "room": "tides",
        "content": "潮汐表の更新は手作業だった。",
        "valid_from": "2026-02-10",
    }
    return [*chain, *notes, ended, japanese]


@pytest.fixture
def site(live_server: Any, settings: Any, tmp_path: Path) -> Iterator[str]:
    """The address of a served palace."""
    opening.close_stores()
    settings.MEMCASTLE_DATA_DIR = tmp_path
    settings.MEMCASTLE_PALACE_URL = "mem://"
    settings.MEMCASTLE_BIND = "127.0.0.1:8000"
    numbered = list(enumerate(rows(), 1))
    now = opening.clock()
    import_rows(opening.store(for_new=True), lambda: numbered, Options(now=now), ImportReport())
    yield live_server.url
    opening.close_stores()


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Open]:
    """Open a path in a fresh context; any message on the console fails the test."""
    contexts: list[BrowserContext] = []
    heard: list[str] = []

    def go(path: str, *, width: int = 1280, scheme: str = "light", **options: Any) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            **options,  # type: ignore[arg-type]
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.goto(site + path)
        return page

    yield go
    for context in contexts:
        context.close()
    assert heard == []


AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong; injected past the policy, which forbids scripts of others."""
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": AXE})
    answer = session.send(
        "Runtime.evaluate",
        {
            "expression": "axe.run().then(r => JSON.stringify(r.violations.map(v => v.id + ': ' "
            "+ v.nodes.map(n => n.target.join(' ')).slice(0, 3).join(', '))))",
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    return list(json.loads(answer["result"]["value"]))
