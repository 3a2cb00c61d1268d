"""A page and its route give the same drawers in the same order for the same parameters."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

_ROW = re.compile(r'data-id="([^"]+)"')
_TEXTS = (
    "The harbour keeps seven lanterns along the quay",
    "Lanterns are lit at dusk; the harbour closes",
    "A quay of stone, and no lanterns",
    "Bread is baked before dusk",
    "Stone by stone the wall grows",
)


def page_ids(client: Client, path: str, asked: dict[str, Any]) -> list[str]:
    page = client.get(path, asked)
    assert page.status_code == 200
    return _ROW.findall(page.content.decode())


def route_ids(client: Client, path: str, asked: dict[str, Any]) -> tuple[list[str], str | None]:
    answer = client.get(path, asked).json()
    rows = answer.get("hits", answer.get("drawers"))
    return [row["id"] for row in rows], answer["cursor"]


@pytest.fixture
def full(file: Any, post: Any) -> None:
    """A few dozen drawers in two wings, some of them replaced or ended."""
    for number in range(40):
        drawer = file(
            f"{_TEXTS[number % 5]}, note {number}",
            wing=("atlas", "north")[number % 2],
            room=("design", "a/b")[number % 4 // 2],
            tags=["odd"] if number % 3 else [],
            valid_from=f"2026-0{number % 5 + 1}-{number % 28 + 1:02}",
        )
        if number % 5 == 0:
            body = {"content": f"{drawer.content}, again", "at": "2026-07-01"}
            post(f"/api/drawers/{drawer.id}/supersede", body)
        if number % 7 == 0:
            post(f"/api/drawers/{drawer.id}/supersede", {"at": "2026-08-01"})


SEARCHES: list[dict[str, Any]] = [
    {"q": "lanterns"},
    {"q": "lanterns harbour"},
    {"q": "stone quay dusk", "tag": "odd"},
    {"q": ""},
    {"q": "*", "wing": "north"},
    {"q": "stone", "as_of": "2026-06-15"},
    {"q": "stone", "history": "1"},
    {"q": "dusk", "from": "2026-02-01", "until": "2026-03-01"},
    {"q": "lanterns", "known_at": "2020-01-01"},
    {"wing": "atlas", "room": "a/b"},
]


@pytest.mark.parametrize("asked", SEARCHES, ids=urlencode)
def test_search_page_and_route_agree(client: Client, full: None, asked: dict[str, Any]) -> None:
    asked = {**asked, "limit": 5}
    ids, cursor = route_ids(client, "/api/search", asked)
    assert bool(ids) == ("known_at" not in asked)  # nothing was known before it was filed
    assert page_ids(client, "/search/", asked) == ids
    if cursor:
        further = {**asked, "cursor": cursor}
        assert page_ids(client, "/search/", further) == route_ids(client, "/api/search", further)[0]


@pytest.mark.parametrize(
    "asked", [{}, {"as_of": "2026-06-15"}, {"history": "1"}, {"tag": "odd"}], ids=urlencode
)
@pytest.mark.parametrize("room", ["design", "a~2Fb"])
def test_room_page_and_route_agree(
    client: Client, full: None, room: str, asked: dict[str, Any]
) -> None:
    asked = {**asked, "limit": 4}
    page, route = f"/wings/atlas/rooms/{room}/", f"/api/wings/atlas/rooms/{room}/drawers"
    ids, cursor = route_ids(client, route, asked)
    assert len(ids) == 4
    assert page_ids(client, page, asked) == ids
    further = {**asked, "cursor": cursor}
    assert page_ids(client, page, further) == route_ids(client, route, further)[0]
