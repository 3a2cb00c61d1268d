"""Storing and reading single drawers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palace.domain.errors import Conflict, PalaceError
from palace.store import drawers
from palace.store.connection import Store
from tests.conftest import MakeDrawer, Planted
from tests.oracle import Question


def test_what_is_stored_comes_back_as_it_was(planted: Planted) -> None:
    for row in planted.rows[:40]:
        assert drawers.get(planted.store, row.id) == replace(row, size=len(row.content.encode()))


def test_many_come_in_the_order_asked_and_missing_ones_are_left_out(planted: Planted) -> None:
    idents = [row.id for row in planted.rows[9:2:-1]]
    found = drawers.get_many(planted.store, [idents[0], "nowhere", *idents[1:]], content="none")
    assert [one.id for one in found] == idents
    assert {one.content for one in found} == {""}
    assert drawers.get_many(planted.store, []) == []


def test_a_preview_is_a_beginning(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(id="long", content="é" * 5_000))
    assert drawers.get_many(store, ["long"], content="preview")[0].content == "é" * 1_200


def test_content_is_kept_byte_for_byte(store: Store, make_drawer: MakeDrawer) -> None:
    content = " \r\ntab\t e\u0301 é \u202eright\u202c 👩‍👩‍👧 'quotes' $param d'2026' \u2028 end \n"
    drawers.file(store, make_drawer(id="odd", content=content))
    found = drawers.get(store, "odd")
    assert found is not None
    assert found.content == content


@pytest.mark.parametrize("ident", ["a b", "⟨x⟩", "1", "`", "drawer:1", "", "é" * 300])
def test_any_id_is_only_an_id(store: Store, make_drawer: MakeDrawer, ident: str) -> None:
    assert drawers.get(store, ident) is None
    if ident:
        drawers.file(store, make_drawer(id=ident))
        found = drawers.get(store, ident)
        assert found is not None
        assert found.id == ident


def test_the_same_unnamed_text_is_stored_once(store: Store, make_drawer: MakeDrawer) -> None:
    first = make_drawer(content="same")
    assert drawers.file(store, first) == (True, first.id)
    assert drawers.file(store, make_drawer(content="same")) == (False, first.id)
    assert drawers.file(store, make_drawer(content="same", room="crew"))[0]
    assert drawers.file(store, make_drawer(content="same", name="named"))[0]


def test_an_ended_text_may_be_filed_again(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(content="same", valid_to=2_000, closed_at=2_000))
    assert not drawers.file(store, make_drawer(content="same", valid_from=1_999))[0]
    assert drawers.file(store, make_drawer(content="same", valid_from=2_000))[0]


def test_a_name_is_held_once_in_a_room(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(name="plan"))
    drawers.file(store, make_drawer(name="plan", room="crew"))
    with pytest.raises(Conflict) as refused:
        drawers.file(store, make_drawer(name="plan"))
    assert refused.value.code == "memcastle::palace::drawer_name_taken"


def test_an_id_is_never_written_twice(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(id="one", content="first"))
    with pytest.raises(PalaceError):
        drawers.file(store, make_drawer(id="one", content="second"))
    found = drawers.get(store, "one")
    assert found is not None
    assert found.content == "first"


def test_a_name_at_an_instant_is_whoever_held_it_then(
    store: Store, make_drawer: MakeDrawer
) -> None:
    drawers.file(store, make_drawer(id="old", former_name="plan", valid_to=2_000, closed_at=2_000))
    drawers.file(store, make_drawer(id="new", name="plan", valid_from=2_000, created_at=2_000))
    held = {}
    for at in (999, 1_000, 1_999, 2_000):
        scope = Question(at=at, wing="atlas", room="routes").scope
        found = drawers.by_name(store, scope, "plan")
        held[at] = found.id if found else None
    assert held == {999: None, 1_000: "old", 1_999: "old", 2_000: "new"}
