"""Wings, rooms, and the drawers in a room."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from palace.paths import write_name

ODD_NAMES = [
    "a/b",
    "what?",
    "50 %",
    "~2F",
    "..",
    "naïve café",
    "棚の上",
    "🏰",
    "x" * 300,
    "a&b=c#d;e",
]


def segment(name: str) -> str:
    return quote(write_name(name), safe="")


def test_the_tree_counts_what_is_valid_at_the_instant(client: Client, file: Any) -> None:
    file("one", room="a", valid_from="2026-01-01")
    file("two", room="a", valid_from="2026-02-01")
    file("three", room="b", valid_from="2026-03-01")
    now, then = (client.get(f"/api/wings{query}").json() for query in ("", "?as_of=2026-02-15"))
    assert (now["total"], now["drawers"], then["drawers"]) == (1, 3, 2)
    assert [(room["name"], room["count"]) for room in then["wings"][0]["rooms"]] == [
        ("a", 2),
        ("b", 0),
    ]


def test_a_wing_its_rooms_and_a_room(client: Client, file: Any) -> None:
    file("one", wing="north", room="a")
    assert client.get("/api/wings/north").json()["count"] == 1
    rooms = client.get("/api/wings/north/rooms").json()
    assert [room["name"] for room in rooms["rooms"]] == ["a"]
    room = client.get("/api/wings/north/rooms/a").json()
    assert (room["wing"], room["name"], room["count"]) == ("north", "a", 1)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/wings/x", "wing"),
        ("/api/wings/x/rooms", "wing"),
        ("/api/wings/x/rooms/y", "wing"),
        ("/api/wings/x/rooms/y/drawers", "wing"),
        ("/api/wings/atlas/rooms/y", "room"),
        ("/api/wings/atlas/rooms/y/drawers", "room"),
        ("/api/wings/atlas/rooms/design/drawers/z", "drawer"),
        ("/api/drawers/z", "drawer"),
        ("/api/drawers/z/history", "drawer"),
        ("/api/drawers/z/neighbours", "drawer"),
    ],
)
def test_an_unknown_place_is_404(client: Client, file: Any, path: str, code: str) -> None:
    file("one")
    refused = client.get(path)
    assert refused.status_code == 404
    assert refused.json()["code"] == f"memcastle::palace::{code}_not_found"
    assert refused.json()["help"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_survive_the_way_there_and_back(client: Client, post: Any, name: str) -> None:
    room = f"/api/wings/{segment(name)}/rooms/{segment(name)}"
    filed = post(f"{room}/drawers", {"content": "odd", "name": name})
    assert filed.status_code == 201
    assert client.get(room).json()["name"] == name
    drawer = client.get(f"{room}/drawers/{segment(name)}").json()
    assert (drawer["wing"], drawer["room"], drawer["name"]) == (name, name, name)


def test_a_room_lists_newest_first_with_previews(client: Client, file: Any) -> None:
    file("old", valid_from="2026-01-01")
    file("# Long\n" + "word " * 1000, valid_from="2026-02-01")
    listed = client.get("/api/wings/atlas/rooms/design/drawers").json()
    long, short = listed["drawers"]
    assert (long["title"], len(long["preview"]), long["cut"]) == ("Long", 1200, True)
    assert (short["preview"], short["cut"]) == ("old", False)
    assert (listed["total"], listed["cursor"]) == (2, None)
    assert "content" not in long


def test_a_room_pages_by_cursor(client: Client, file: Any) -> None:
    filed = [file(f"number {n}", valid_from=f"2026-01-{n:02}").id for n in range(1, 8)]
    path, seen, cursor = "/api/wings/atlas/rooms/design/drawers", [], ""
    while cursor is not None:
        page = client.get(path, {"limit": 3, "cursor": cursor}).json()
        seen += [drawer["id"] for drawer in page["drawers"]]
        cursor = page["cursor"]
        assert page["total"] == 7
    assert seen == filed[::-1]


def test_creating_a_place_twice_finds_it(client: Client, post: Any) -> None:
    first, second = (post("/api/wings", {"name": "north"}) for _ in range(2))
    assert (first.status_code, first.json()["created"]) == (201, True)
    assert (second.status_code, second.json()["created"]) == (200, False)
    room = post("/api/wings/north/rooms", {"name": "a", "description": "Of doors"})
    assert (room.status_code, room.json()["room"]["description"]) == (201, "Of doors")
    assert post("/api/wings/north/rooms", {"name": "a"}).status_code == 200
    assert client.get("/api/wings/north/rooms/a").json()["description"] == "Of doors"


def test_filing_answers_the_drawer(client: Client, post: Any) -> None:
    body = {
        "content": "The gate is blue\r\n",
        "name": "gate",
        "tags": ["door"],
        "source": {"kind": "note", "uri": "https://palace.example/1"},
        "valid_from": "2026-03-01",
        "requested_by": "ada",
    }
    filed = post("/api/wings/north/rooms/a/drawers", body)
    drawer = filed.json()["drawer"]
    assert (filed.status_code, filed.json()["created"]) == (201, True)
    assert drawer["content"] == body["content"]
    assert drawer["valid_from"] == "2026-03-01T00:00:00.000000Z"
    assert drawer["provenance"]["requested_by"] == "ada"
    assert client.get(f"/api/drawers/{drawer['id']}").json()["source"] == body["source"]


def test_a_room_made_by_filing_is_told_once(post: Any) -> None:
    path = "/api/wings/north/rooms/a/drawers"
    first, second = (post(path, {"content": text}).json() for text in ("one", "two"))
    assert [one["code"] for one in first["notices"]] == ["memcastle::palace::room_created"]
    assert second["notices"] == []


def test_the_same_unnamed_text_is_not_stored_twice(post: Any) -> None:
    path = "/api/wings/north/rooms/a/drawers"
    first, second = (post(path, {"content": "one"}) for _ in range(2))
    assert (second.status_code, second.json()["created"]) == (200, False)
    assert second.json()["drawer"]["id"] == first.json()["drawer"]["id"]
    assert second.json()["notices"][0]["code"] == "memcastle::palace::already_filed"


def test_a_name_is_held_once(post: Any) -> None:
    path = "/api/wings/north/rooms/a/drawers"
    post(path, {"content": "one", "name": "n"})
    refused = post(path, {"content": "two", "name": "n"})
    assert refused.status_code == 409
    assert refused.json()["code"] == "memcastle::palace::drawer_name_taken"


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({}, "content"),
        ({"content": 3}, "content"),
        ({"content": "x", "tags": "y"}, "tags"),
        ({"content": "x", "valid_from": "soon"}, "valid_from"),
        ([1], "body"),
        ("{", "body"),
    ],
)
def test_a_bad_body_names_its_option(post: Any, body: Any, parameter: str) -> None:
    refused = post("/api/wings/north/rooms/a/drawers", body)
    assert refused.status_code == 400
    assert refused.json()["code"] == "memcastle::input::invalid"
    assert refused.json()["parameter"] == parameter


@pytest.mark.parametrize(
    "body",
    [
        {"content": " "},
        {"content": "a\u0000b"},
        {"content": "x", "tags": ["a,b"]},
        {"content": "x", "source": {"kind": "dream"}},
        {"content": "x", "source": {"kind": "note", "n": 10**30}},
        {"content": "x", "name": ""},
        r'{"content": "x", "source": {"kind": "note", "uri": "\ud800"}}',
        '{"content": "x", "source": ' + '{"a":' * 5000 + "1" + "}" * 5000 + "}",
        '{"content": "x", "source": ' + '{"a":' * 300 + "1" + "}" * 300 + "}",
    ],
)
def test_what_no_drawer_can_hold_is_refused(post: Any, body: Any) -> None:
    refused = post("/api/wings/north/rooms/a/drawers", body)
    assert refused.status_code == 400
    assert refused.json()["error"]


def test_a_name_belongs_to_whoever_held_it_then(client: Client, file: Any, post: Any) -> None:
    old = file("blue", name="gate", valid_from="2026-03-01")
    new = post(f"/api/drawers/{old.id}/supersede", {"content": "red", "at": "2026-04-01"}).json()
    path = "/api/wings/atlas/rooms/design/drawers/gate"
    assert client.get(path).json()["id"] == new["replacement"]["id"]
    assert client.get(f"{path}?as_of=2026-03-15").json()["id"] == old.id
    assert client.get(f"{path}?as_of=2026-02-15").status_code == 404


def test_an_id_serves_as_a_name_within_its_room(client: Client, file: Any) -> None:
    drawer = file("blue", room="design")
    file("red", room="other")
    found = client.get(f"/api/wings/atlas/rooms/design/drawers/{drawer.id}")
    assert found.json()["id"] == drawer.id
    assert client.get(f"/api/wings/atlas/rooms/other/drawers/{drawer.id}").status_code == 404
