"""Vectors beside drawers: written, replaced, deleted and found missing, the drawer untouched."""

from __future__ import annotations

from typing import Any

import numpy as np

from palace.domain.embedding import pack
from palace.embedding.hashing import HashingProvider
from palace.store import drawers, embeddings
from palace.store.connection import Store
from palace.store.embeddings import CALLER, PassageRow
from tests.conftest import MakeDrawer


def row(drawer: str, passage: int = 0, **given: Any) -> PassageRow:
    text = given.pop("text", f"{drawer} {passage}")
    (vector,) = HashingProvider().embed([text], kind="passage")
    fields = {"start": 0, "end": 5, "model": "m", "text_hash": text, "embedded_at": 10} | given
    return PassageRow(drawer, passage, vector=vector, **fields)


def whole(store: Store) -> list[Any]:
    return list(store.query("SELECT * FROM drawer ORDER BY id"))


def passages(store: Store) -> list[list[Any]]:
    sql = "SELECT VALUE [record::id(drawer), passage] FROM embedding ORDER BY drawer, passage"
    return sorted(store.query(sql))


def test_vectors_come_back_as_written(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer())
    one = row("d0001")
    embeddings.write_passages(store, [one])
    kept = store.query("SELECT *, time::micros(embedded_at) AS at FROM ONLY embedding LIMIT 1")
    assert kept["vector"] == pack(one.vector)
    assert (kept["start"], kept["end"], kept["model"], kept["at"]) == (0, 5, "m", 10)


def test_no_byte_of_a_drawer_changes(store: Store, make_drawer: MakeDrawer) -> None:
    for content in ("short", "é 漢字 \r\n\t", "x" * 5_000):
        drawers.file(store, make_drawer(content=content, tags=("a",)))
    before = whole(store)
    embeddings.write_passages(store, [row("d0001", n) for n in range(3)] + [row("d0002")])
    assert whole(store) == before
    embeddings.write_passages(store, [row("d0001", text="another")])
    assert whole(store) == before
    embeddings.delete(store, "d0001")
    assert whole(store) == before
    assert passages(store) == [["d0002", 0]]


def test_writing_again_replaces_all_passages(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer())
    embeddings.write_passages(store, [row("d0001", n) for n in range(5)])
    embeddings.write_passages(store, [row("d0001", n, model="n") for n in range(2)])
    assert passages(store) == [["d0001", 0], ["d0001", 1]]
    assert store.query("SELECT VALUE model FROM embedding") == ["n", "n"]


def test_drawers_of_one_block_shrink_and_grow(store: Store) -> None:
    embeddings.write_passages(store, [*(row("a", n) for n in range(5)), row("b"), row("c", 0)])
    embeddings.write_passages(store, [row("a"), row("a", 1), *(row("b", n) for n in range(3))])
    assert passages(store) == [["a", 0], ["a", 1], ["b", 0], ["b", 1], ["b", 2], ["c", 0]]


def test_a_drawer_of_many_passages_is_written_whole(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer())
    writes = store.version
    embeddings.write_passages(store, [row("d0001", n) for n in range(450)])
    assert store.version == writes + 1
    assert len(passages(store)) == 450


def test_listeners_hear_of_every_write(store: Store) -> None:
    heard: list[list[str]] = []
    store.caches[embeddings.LISTENERS] = [heard.append]
    embeddings.write_passages(store, [row("a"), row("b"), row("b", 1)])
    embeddings.delete(store, "a")
    assert heard == [["a", "b"], ["a"]]


def test_drawers_without_a_vector_current_first(store: Store, make_drawer: MakeDrawer) -> None:
    for given in ({"valid_to": 5_000}, {}, {"wing": "other"}, {}):
        drawers.file(store, make_drawer(**given))
    embeddings.write_passages(store, [row("d0004")])
    assert [one for one, _ in embeddings.without_vector(store, "m")] == ["d0002", "d0003", "d0001"]
    assert embeddings.without_vector(store, "m", wing="other") == [("d0003", len("memory 0003"))]
    assert embeddings.without_vector(store, "m", wing="nowhere") == []
    assert len(embeddings.without_vector(store, "n")) == 4
    assert len(embeddings.without_vector(store, "m", since=11)) == 4


def test_pages_lose_nothing(store: Store, make_drawer: MakeDrawer, monkeypatch: Any) -> None:
    for _ in range(10):
        drawers.file(store, make_drawer())
    for page in (2, 3, 5, 10):
        monkeypatch.setattr(embeddings, "PAGE", page)
        assert len({one for one, _ in embeddings.without_vector(store, "m")}) == 10


def test_a_callers_vector_counts_for_every_model(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer())
    drawers.file(store, make_drawer())
    embeddings.write_passages(store, [row("d0001", model=CALLER)])
    embeddings.write_passages(store, [row("d0002", model="mine", text_hash=CALLER)])
    assert embeddings.without_vector(store, "m") == []


def test_coverage_by_wing(store: Store, make_drawer: MakeDrawer) -> None:
    for wing in ("atlas", "atlas", "boats"):
        drawers.file(store, make_drawer(wing=wing))
    assert embeddings.coverage(store, "m") == {"atlas": (0, 2), "boats": (0, 1)}
    embeddings.write_passages(store, [row("d0001"), row("d0001", 1)])
    assert embeddings.coverage(store, "m") == {"atlas": (1, 2), "boats": (0, 1)}
    assert embeddings.coverage(store, "n") == {"atlas": (0, 2), "boats": (0, 1)}


def test_known_texts_give_their_vector_once(store: Store) -> None:
    embeddings.write_passages(store, [row(f"d{n}", text="same") for n in range(20)])
    found = embeddings.existing_text(store, "m", ["same", "unknown"])
    assert list(found) == ["same"]
    assert np.frombuffer(found["same"], "<f4").shape == (768,)
    assert embeddings.existing_text(store, "n", ["same"]) == {}
    assert embeddings.existing_text(store, "m", ["same"], since=11) == {}
    assert embeddings.existing_text(store, "m", []) == {}
