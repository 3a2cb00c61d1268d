"""The search routes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client


def ids(response: Any) -> list[str]:
    return [hit["id"] for hit in response.json()["hits"]]


def test_a_hit_is_the_drawer_verbatim_and_why_it_is_here(client: Client, file: Any) -> None:
    drawer = file("# Lanterns\nThe harbour keeps seven lanterns.", name="lanterns", tags=["sea"])
    for other in ("bread", "wool", "salt"):
        file(f"Something else altogether, about {other}.")
    answer = client.get("/api/search?q=lanterns").json()
    hit = answer["hits"][0]
    assert (answer["total"], answer["ranking"], answer["notices"]) == (1, "lexical", [])
    assert (hit["id"], hit["content"], hit["tags"]) == (drawer.id, drawer.content, ["sea"])
    assert hit["ranks"] == {"lexical": 1}
    assert hit["signals"]["lexical"]["score"] == hit["score"]
    assert hit["chain"] == {"version": 1, "versions": 1, "superseded_by": []}
    assert [hit["content"][a:b] for a, b in hit["highlights"]] == ["Lanterns", "lanterns"]
    assert "vector" not in hit


def test_every_instant_has_one_fixed_width(client: Client, file: Any, post: Any) -> None:
    drawer = file("The gate is blue", valid_from="2026-03-01")
    post(f"/api/drawers/{drawer.id}/supersede", {"content": "The gate is red"})
    hits = client.get("/api/search?q=gate&history=1").json()["hits"]
    names = ("valid_from", "valid_to", "created_at", "closed_at")
    printed = [hit[name] for hit in hits for name in names if hit[name] is not None]
    assert len(printed) == 6
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text) for text in printed)


@pytest.mark.parametrize("path", ["/api/search", "/api/recall"])
def test_a_body_asks_the_same_as_a_query_string(client: Client, file: Any, path: str) -> None:
    wanted = file("The gate is blue", tags=["door"], wing="north")
    file("The gate is green", wing="south")
    file("The gate is grey", wing="north")
    body = {"text": "gate", "limit": 5, "filter": {"wing": "north", "tags": ["door"]}}
    sent = client.post(path, body, content_type="application/json")
    got = client.get(path, {"q": "gate", "limit": 5, "wing": "north", "tags": "door"})
    assert ids(sent) == ids(got) == [wanted.id]


@pytest.mark.parametrize(
    ("temporal", "found"),
    [
        ("current", ["red"]),
        (None, ["red"]),
        ("all", ["red", "blue"]),
        ({"as_of": "2026-03-15"}, ["blue"]),
        ({"as_of": "2026-02-01"}, []),
        ({"between": {"from": "2026-03-01", "until": "2026-05-01"}}, ["red", "blue"]),
    ],
)
def test_a_body_chooses_its_time(
    client: Client, file: Any, post: Any, temporal: Any, found: list[str]
) -> None:
    drawer = file("The gate is blue", valid_from="2026-03-01")
    body = {"content": "The gate is red", "at": "2026-04-01"}
    post(f"/api/drawers/{drawer.id}/supersede", body)
    asked = {"text": "", "filter": {"temporal": temporal}}
    answer = client.post("/api/search", asked, content_type="application/json").json()
    assert [hit["content"].split()[-1] for hit in answer["hits"]] == found


@pytest.mark.parametrize("temporal", ["yesterday", 3, {"between": "x"}, {"as_of": "x", "y": 1}])
def test_an_odd_temporal_choice_is_refused(client: Client, temporal: Any) -> None:
    body = {"text": "x", "filter": {"temporal": temporal}}
    refused = client.post("/api/search", body, content_type="application/json")
    assert refused.status_code == 400
    assert refused.json()["parameter"] == "filter.temporal"


@pytest.mark.parametrize("blank", ["", "*", "  "])
def test_an_empty_query_lists_newest_first(client: Client, file: Any, blank: str) -> None:
    old, new = file("one", valid_from="2026-01-01"), file("two", valid_from="2026-02-01")
    answer = client.get("/api/search", {"q": blank})
    assert ids(answer) == [new.id, old.id]
    assert answer.json()["ranking"] == "newest"


@pytest.mark.parametrize("query", ["", "stone"])
def test_pages_join_to_the_whole_answer(client: Client, file: Any, query: str) -> None:
    for number in range(7):
        file(f"stone number {number}", valid_from=f"2026-01-0{number + 1}")
    whole = ids(client.get("/api/search", {"q": query, "limit": 50}))
    pages: list[str] = []
    asked = {"q": query, "limit": 3}
    while True:
        answer = client.get("/api/search", asked)
        assert answer.json()["total"] == 7
        pages += ids(answer)
        if answer.json()["cursor"] is None:
            break
        asked["cursor"] = answer.json()["cursor"]
    assert pages == whole
    assert len(whole) == 7


def test_facets_come_when_asked(client: Client, file: Any) -> None:
    file("a stone", room="one", tags=["hard"])
    file("a stone", room="two")
    assert "facets" not in client.get("/api/search?q=stone").json()
    facets = client.get("/api/search?q=stone&room=one&facets=1").json()["facets"]
    assert {(one["value"], one["count"], one["wing"]) for one in facets["room"]} == {
        ("one", 1, "atlas"),
        ("two", 1, "atlas"),
    }
    assert facets["tag"] == [{"value": "hard", "count": 1}]


def test_what_is_not_understood_is_told(client: Client) -> None:
    answer = client.get("/api/search?q=x&colour=red&wing=nowhere&limit=900&expand=1").json()
    assert {one["code"] for one in answer["notices"]} >= {
        "memcastle::input::unknown",
        "memcastle::palace::wing_not_found",
        "memcastle::input::clamped",
        "memcastle::input::unused",
    }


def test_an_unknown_key_of_a_body_is_told(client: Client) -> None:
    body = {"text": "x", "colour": "red", "filter": {"shade": 3}}
    answer = client.post("/api/search", body, content_type="application/json").json()
    told = [one for one in answer["notices"] if one["code"] == "memcastle::input::unknown"]
    assert len(told) == 2


@pytest.mark.parametrize(
    "body",
    [r'{"text": "x", "\ud800": 1}', r'{"text": "\ud800"}', r'{"filter": {"wing": "\ud800"}}'],
)
def test_half_a_surrogate_pair_is_refused(client: Client, body: str) -> None:
    assert client.post("/api/search", body, content_type="application/json").status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        {"text": "x", "query_embedding": [0.1] * 768},
        {"text": "x", "ranking": "semantic"},
        {"text": "x", "ranking": "hybrid"},
    ],
)
def test_a_vector_or_a_promise_of_meaning_is_refused(client: Client, body: Any) -> None:
    refused = client.post("/api/search", body, content_type="application/json")
    assert refused.status_code == 400
    assert refused.json()["code"] == "memcastle::search::semantic_unavailable"
    assert refused.json()["help"]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("as_of=yesterday", "as_of"),
        ("as_of=2026-01-01T00:00:00", "as_of"),
        ("from=2026-01-01", "from"),
        ("from=2026-02-01&until=2026-01-01", "until"),
        ("as_of=2026-01-01&history=1", "as_of"),
        ("limit=many", "limit"),
        ("source_kind=dream", "source_kind"),
        ("ranking=astral", "ranking"),
    ],
)
def test_a_bad_option_is_named(client: Client, query: str, parameter: str) -> None:
    refused = client.get(f"/api/search?{query}")
    assert refused.status_code == 400
    assert refused.json()["code"] == "memcastle::input::invalid"
    assert refused.json()["parameter"] == parameter


def test_a_foreign_cursor_is_refused(client: Client) -> None:
    refused = client.get("/api/search?cursor=abc")
    assert (refused.status_code, refused.json()["code"]) == (400, "memcastle::input::cursor")


def test_a_query_of_any_length_is_answered_or_refused(client: Client) -> None:
    refused = client.get("/api/search", {"q": "word " * 3000})
    assert (refused.status_code, refused.json()["code"]) == (400, "memcastle::input::invalid")
