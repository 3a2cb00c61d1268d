"""Chains of versions, also the broken ones that imports bring."""

from __future__ import annotations

from palace.store import drawers, history
from palace.store.connection import Store
from tests.conftest import MakeDrawer


def line(store: Store, make_drawer: MakeDrawer, length: int) -> list[str]:
    """A chain of that many versions, each tied to the next."""
    idents = [f"v{number:05d}" for number in range(length)]
    for number, ident in enumerate(idents):
        last = number + 1 == length
        drawers.file(
            store,
            make_drawer(
                id=ident,
                valid_from=1_000 + number,
                valid_to=None if last else 1_001 + number,
                supersedes=tuple(idents[number - 1 : number] if number else ()),
                superseded_by=() if last else (idents[number + 1],),
            ),
        )
    return idents


def test_a_chain_is_found_whole_from_any_version(store: Store, make_drawer: MakeDrawer) -> None:
    idents = line(store, make_drawer, 6)
    for ident in idents:
        found = history.chain(store, ident)
        assert [one.id for one in found.versions] == idents
        assert (found.missing, found.truncated) == ((), False)
    numbers = history.places_in_chain(store, idents)
    assert [numbers[ident] for ident in idents] == [(place, 6) for place in range(1, 7)]


def test_a_chain_longer_than_one_walk_is_found_whole(store: Store, make_drawer: MakeDrawer) -> None:
    idents = line(store, make_drawer, history.HOPS + 10)
    assert [one.id for one in history.chain(store, idents[0]).versions] == idents


def test_the_walk_ends_on_a_cycle(store: Store, make_drawer: MakeDrawer) -> None:
    ring = {"a": "b", "b": "c", "c": "a"}
    before = {after: ident for ident, after in ring.items()}
    for ident, after in ring.items():
        drawers.file(
            store, make_drawer(id=ident, superseded_by=(after,), supersedes=(before[ident],))
        )
    assert [one.id for one in history.chain(store, "b").versions] == ["a", "b", "c"]


def test_links_to_nowhere_are_told(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(id="alone", supersedes=("gone",)))
    found = history.chain(store, "alone")
    assert ([one.id for one in found.versions], found.missing) == (["alone"], ("gone",))


def test_two_successors_and_one_sided_links_are_all_found(
    store: Store, make_drawer: MakeDrawer
) -> None:
    drawers.file(store, make_drawer(id="root", superseded_by=("left", "right")))
    drawers.file(store, make_drawer(id="left", valid_from=2_000))
    drawers.file(store, make_drawer(id="right", valid_from=3_000, supersedes=("root",)))
    found = history.chain(store, "right")
    assert [one.id for one in found.versions] == ["root", "left", "right"]


def test_an_unknown_drawer_has_no_chain(store: Store) -> None:
    assert history.chain(store, "nowhere").versions == ()
