"""The history of a drawer: its whole chain."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from palace import opening
from palace.curation import CurationService
from palace.domain.records import Drawer
from palace.domain.time import parse_instant

File = Callable[..., Drawer]


def at(text: str, actor: str = "quay") -> CurationService:
    store = opening.curation(for_new=True).store
    return CurationService(store, lambda: parse_instant(text), actor)


def page(client: Client, ident: str, query: str = "", status: int = 200) -> str:
    response = client.get(f"/drawers/{ident}/history/{query}")
    assert response.status_code == status
    return response.content.decode()


def listed(html: str) -> list[str]:
    return re.findall(r'<li class="version[^"]*" data-id="(\w+)"', html)


@pytest.fixture
def chain(file: File) -> list[Drawer]:
    first = file("# Tides\n\nOne.", name="tide-source", tags=("sea",))
    second = at("2026-04-01", "ledger").supersede(first.id, "# Tides\n\nTwo two.", reason="why <2>")
    third = at("2026-05-01").supersede(second.drawer.id, "# Tides", tags=("sea", "clock"))
    return [first, second.drawer, third.drawer]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_whole_chain_from_any_version(client: Client, chain: list[Drawer], place: int) -> None:
    assert listed(page(client, chain[place].id)) == [one.id for one in chain]


def test_periods_actors_reasons_and_sizes_are_told(client: Client, chain: list[Drawer]) -> None:
    html = page(client, chain[0].id)
    told = ("1 Mar 2026, 00:00 UTC", "ledger", "why &lt;2&gt;", "(+4)", "(-10)", "sea, clock")
    assert [part for part in told if part not in html] == []
    assert "no reason was given" in html


def test_the_instant_marks_and_hides_nothing(client: Client, chain: list[Drawer]) -> None:
    html = page(client, chain[0].id, "?as_of=2026-04-15")
    assert len(listed(html)) == 3
    badges = re.findall(r'<h2>.*?<span class="badge \w+">([^<]+)<', html)
    assert badges == ["replaced", "true then", "not yet begun"]
    assert f'href="/drawers/{chain[2].id}/?as_of=2026-04-15"' in html


def test_a_chain_that_ended_says_so(client: Client, chain: list[Drawer]) -> None:
    at("2026-06-01").invalidate(chain[2].id, reason="the sea left")
    html = page(client, chain[1].id)
    assert "Ended without a replacement: “<span dir" in html
    assert "nothing of it is true" in html


def test_one_version_is_a_history_too(client: Client, file: File) -> None:
    assert "1 version, oldest first" in page(client, file("alone").id)


def test_an_unknown_id_is_a_404_with_its_code(client: Client) -> None:
    assert "memcastle::palace::drawer_not_found" in page(client, "nowhere", status=404)


def test_a_long_chain_is_drawn_in_part_and_listed_whole(client: Client, file: File) -> None:
    one = file("version 0")
    for number in range(1, 70):
        moment = f"2026-04-01T00:{number // 60:02d}:{number % 60:02d}Z"
        one = at(moment).supersede(one.id, f"version {number}").drawer
    html = page(client, one.id)
    assert len(listed(html)) == 70
    assert "versions 11 to 70 are drawn" in html
