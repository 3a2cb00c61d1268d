"""One drawer: itself, its history, its neighbours, what replaces it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from palace import opening
from palace.sources.importer import import_rows
from palace.sources.planning import Options
from palace.sources.report import ImportReport


@pytest.mark.parametrize(
    ("query", "state"),
    [
        ("", "ended"),
        ("?as_of=2026-03-01", "valid"),
        ("?as_of=2026-03-31T23:59:59.999999Z", "valid"),
        ("?as_of=2026-04-01", "ended"),
        ("?as_of=2026-02-01", "future"),
        ("?known_at=2026-03-15", "unknown"),
        ("?history=1", None),
    ],
)
def test_a_drawer_is_always_there_and_says_how_it_stands(
    client: Client, file: Any, post: Any, query: str, state: str | None
) -> None:
    drawer = file("blue", valid_from="2026-03-01")
    post(f"/api/drawers/{drawer.id}/supersede", {"content": "red", "at": "2026-04-01"})
    answer = client.get(f"/api/drawers/{drawer.id}{query}")
    assert answer.status_code == 200
    assert answer.json()["state"] == state
    assert answer.json()["chain"]["versions"] == 2


def test_superseding_closes_the_old_and_opens_the_new(client: Client, file: Any, post: Any) -> None:
    drawer = file("blue", name="gate", tags=["door"])
    body = {"content": "red", "reason": "Repainted", "at": "2026-04-01", "requested_by": "ada"}
    answer = post(f"/api/drawers/{drawer.id}/supersede", body).json()
    old, new = answer["superseded"], answer["replacement"]
    assert (old["content"], old["content_hash"]) == ("blue", drawer.content_hash)
    assert old["valid_to"] == new["valid_from"] == "2026-04-01T00:00:00.000000Z"
    assert (old["superseded_by"], new["supersedes"]) == ([new["id"]], [old["id"]])
    assert (old["name"], old["former_name"], new["name"]) == (None, "gate", "gate")
    assert (old["close_reason"], new["tags"]) == ("Repainted", ["door"])
    assert new["provenance"]["requested_by"] == "ada"


def test_without_content_a_drawer_ends_unreplaced(client: Client, file: Any, post: Any) -> None:
    drawer = file("blue")
    answer = post(f"/api/drawers/{drawer.id}/supersede", {"reason": "Gone"}).json()
    assert answer["replacement"] is None
    assert answer["superseded"]["close_reason"] == "Gone"
    assert answer["superseded"]["valid_to"] is not None
    assert client.get("/api/search?q=blue").json()["total"] == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": "red", "at": "2026-03-01"}, "not_after_valid_from"),
        ({"content": "red", "seen": "2026-01-01"}, "drawer_changed"),
        ({"seen": "2026-01-01"}, "drawer_changed"),
    ],
)
def test_a_conflict_writes_nothing(
    client: Client, file: Any, post: Any, body: Any, code: str
) -> None:
    drawer = file("blue", valid_from="2026-03-01")
    refused = post(f"/api/drawers/{drawer.id}/supersede", body)
    assert (refused.status_code, refused.json()["code"]) == (409, f"memcastle::palace::{code}")
    assert client.get(f"/api/drawers/{drawer.id}").json()["state"] == "valid"


def test_a_drawer_is_replaced_once(file: Any, post: Any) -> None:
    replaced, ended = file("blue"), file("green")
    post(f"/api/drawers/{replaced.id}/supersede", {"content": "red"})
    post(f"/api/drawers/{ended.id}/supersede", {})
    codes = [
        post(f"/api/drawers/{one.id}/supersede", {"content": "x"}).json()["code"]
        for one in (replaced, ended)
    ]
    assert codes == ["memcastle::palace::drawer_superseded", "memcastle::palace::drawer_ended"]


def test_the_lock_takes_what_the_drawer_shows(client: Client, file: Any, post: Any) -> None:
    drawer = file("blue")
    seen = client.get(f"/api/drawers/{drawer.id}").json()["updated_at"]
    answer = post(f"/api/drawers/{drawer.id}/supersede", {"content": "red", "seen": seen})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"tags": ["a"]}, "tags"),
        ({"content": "x", "at": "soon"}, "at"),
        ({"content": "x", "seen": "soon"}, "seen"),
        ({"content": "x", "tags": [1]}, "tags.0"),
    ],
)
def test_a_bad_option_is_named(file: Any, post: Any, body: Any, parameter: str) -> None:
    refused = post(f"/api/drawers/{file('blue').id}/supersede", body)
    assert (refused.status_code, refused.json()["parameter"]) == (400, parameter)


def test_an_instant_to_come_is_refused(file: Any, post: Any) -> None:
    body = {"content": "red", "at": "2999-01-01"}
    assert post(f"/api/drawers/{file('blue').id}/supersede", body).status_code == 400


def test_an_unknown_drawer_cannot_be_replaced(post: Any) -> None:
    refused = post("/api/drawers/nobody/supersede", {"content": "x"})
    assert refused.status_code == 404
    assert refused.json()["code"] == "memcastle::palace::drawer_not_found"


def test_history_is_the_same_from_any_version(client: Client, file: Any, post: Any) -> None:
    ids = [file("one").id]
    for text in ("two", "three"):
        answer = post(f"/api/drawers/{ids[-1]}/supersede", {"content": text}).json()
        ids.append(answer["replacement"]["id"])
    for ident in ids:
        history = client.get(f"/api/drawers/{ident}/history").json()
        assert history["drawer"]["id"] == ident
        assert [one["id"] for one in history["versions"]] == ids
        assert [one["content"] for one in history["versions"]] == ["one", "two", "three"]
        assert (history["missing"], history["truncated"]) == ([], False)


def test_neighbours_share_what_they_mention(client: Client) -> None:
    rows = [
        {"wing": "w", "room": "r", "content": text, "id": ident, "valid_from": "2026-03-01"}
        for ident, text in (("a", "about Ada"), ("b", "also Ada"), ("c", "of nobody"))
    ]
    rows += [{"type": "entity", "name": name, "kind": "person"} for name in ("Ada", "Charles")]
    rows += [
        {"type": "mention", "drawer": ident, "entity": "Ada", "kind": "person"} for ident in "ab"
    ]
    rows.append(
        {
            "type": "fact",
            "subject": "Ada",
            "subject_kind": "person",
            "predicate": "works with",
            "object": "Charles",
            "object_kind": "person",
            "valid_from": "2026-03-01",
        }
    )
    store, now = opening.store(for_new=True), opening.clock()
    import_rows(
        store, lambda: enumerate(rows, 1), Options(now=now), ImportReport(), lambda number: None
    )
    near = client.get("/api/drawers/a/neighbours").json()
    assert [(one["drawer"]["id"], one["names"]) for one in near["neighbours"]] == [("b", ["Ada"])]
    assert [one["name"] for one in near["entities"]] == ["Ada"]
    assert [(one["predicate"], one["to"]["name"]) for one in near["facts"]] == [
        ("works with", "Charles")
    ]
    before = client.get("/api/drawers/a/neighbours?as_of=2026-02-01").json()
    assert (before["neighbours"], before["facts"]) == ([], [])
