"""The one scope against the oracle: lists, counts, facets and change points."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.domain.query import Scope
from palace.domain.records import Drawer
from palace.domain.time import MAX_INSTANT, MIN_INSTANT, Temporal
from palace.recall import RecallService
from palace.store import drawers, importing, listing, timeline
from palace.store.connection import Store
from palace.store.rows import entity_id, entity_ref
from tests import oracle
from tests.conftest import MakeDrawer, Planted
from tests.oracle import INSTANTS, Question
from tests.strategies import boundaries, places, questions

EVERYTHING = Question(stale="include")
MANY = settings(max_examples=100)


def listed(store: Store, asked: Question) -> list[str]:
    """Ids as the palace lists them."""
    return [ident for _, ident in listing.page_ids(store, asked.scope, listing.Position(1_000))]


def expected(planted: Planted, asked: Question) -> list[str]:
    return [row.id for row in oracle.answer(planted.rows, asked)]


@MANY
@given(questions())
def test_lists_are_what_the_oracle_says(planted: Planted, asked: Question) -> None:
    assert listed(planted.store, asked) == expected(planted, asked)


@MANY
@given(questions())
def test_counts_are_what_the_oracle_says_with_and_without_the_chronology(
    planted: Planted, asked: Question
) -> None:
    number = len(expected(planted, asked))
    for use_chronology in (True, False):
        service = RecallService(planted.store, use_chronology=use_chronology)
        assert service.count(asked.scope) == number


@MANY
@given(questions())
def test_facets_are_what_the_oracle_says_with_and_without_the_chronology(
    planted: Planted, asked: Question
) -> None:
    wanted = oracle.facets(planted.rows, asked)
    for use_chronology in (True, False):
        found = RecallService(planted.store, use_chronology=use_chronology).facets(asked.scope)
        assert {
            name: Counter({(one.value, one.wing): one.count for one in values})
            for name, values in found.items()
        } == wanted


@given(questions())
def test_change_points_are_what_the_oracle_says(planted: Planted, asked: Question) -> None:
    whenever = replace(asked, at=None, start=None, until=None)
    lives = [_life(row, asked) for row in oracle.answer(planted.rows, whenever)]
    lasting = [(start, end) for start, end in lives if end is None or end > start]
    for use_chronology in (True, False):
        found = timeline.changes(planted.store, asked.scope, use_chronology=use_chronology)
        assert found.began.tolist() == sorted(start for start, _ in lasting)
        assert found.ended.tolist() == sorted(end for _, end in lasting if end is not None)


def _life(row: Drawer, asked: Question) -> tuple[int, int | None]:
    """Its beginning, and its end as far as it was known."""
    known = replace(asked, at=row.valid_to, start=None, until=None)
    ended = row.valid_to is not None and not oracle.in_time(replace(row, valid_from=0), known)
    return row.valid_from, row.valid_to if ended else None


@given(boundaries, places())
def test_neighbouring_changes_are_the_nearest(planted: Planted, at: int, rest: dict) -> None:
    found = timeline.changes(planted.store, Question(at=at, **rest).scope)
    points = [*found.began.tolist(), *found.ended.tolist()]
    assert found.previous(at) == max((one for one in points if one < at), default=None)
    assert found.next(at) == min((one for one in points if one > at), default=None)


@pytest.mark.parametrize("use_chronology", [True, False])
def test_the_first_instant_is_inside_and_the_last_outside(
    store: Store, make_drawer: MakeDrawer, use_chronology: bool
) -> None:
    drawers.file(store, make_drawer(valid_from=1_000, valid_to=2_000))
    service = RecallService(store, use_chronology=use_chronology)
    for at, seen in ((999, 0), (1_000, 1), (1_999, 1), (2_000, 0), (2_001, 0)):
        asked = Question(at=at)
        assert (len(listed(store, asked)), service.count(asked.scope)) == (seen, seen)


def test_windows_touch_without_overlapping(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(valid_from=1_000, valid_to=2_000))
    windows = {(0, 1_000): 0, (0, 1_001): 1, (1_999, 3_000): 1, (2_000, 3_000): 0}
    for (start, until), seen in windows.items():
        assert len(listed(store, Question(start=start, until=until))) == seen


@given(boundaries, places(), st.one_of(st.none(), boundaries))
def test_as_of_is_the_window_of_one_microsecond(
    planted: Planted, at: int, rest: dict, known: int | None
) -> None:
    point = Question(at=at, known_at=known, **rest)
    window = Question(start=at, until=at + 1, known_at=known, **rest)
    assert listed(planted.store, point) == listed(planted.store, window)


@settings(max_examples=25)
@given(boundaries, boundaries, st.one_of(st.none(), boundaries))
def test_a_window_is_the_union_of_its_instants(
    planted: Planted, a: int, b: int, known: int | None
) -> None:
    start, until = sorted((a, b + 1)) if a != b + 1 else (a, a + 1)
    changes = {row.valid_from for row in planted.rows} | {
        row.valid_to for row in planted.rows if row.valid_to is not None
    }
    union: set[str] = set()
    for at in {start, *(one for one in changes if start <= one < until)}:
        union |= set(listed(planted.store, Question(at=at, known_at=known)))
    window = Question(start=start, until=until, known_at=known)
    assert set(listed(planted.store, window)) == union


@given(st.lists(boundaries, min_size=4, max_size=4, unique=True), places())
def test_a_wider_window_holds_what_a_narrower_one_does(
    planted: Planted, points: list[int], rest: dict
) -> None:
    c, a, b, d = sorted(points)
    inner = listed(planted.store, Question(start=a, until=b, **rest))
    assert set(inner) <= set(listed(planted.store, Question(start=c, until=d, **rest)))


@given(questions())
def test_history_holds_every_instant_and_window(planted: Planted, asked: Question) -> None:
    history = replace(asked, at=None, start=None, until=None)
    assert set(listed(planted.store, asked)) <= set(listed(planted.store, history))


def test_a_period_of_no_length_is_seen_in_history_only(planted: Planted) -> None:
    ghosts = {
        row.id
        for row in planted.rows
        if row.valid_to is not None and row.valid_to <= row.valid_from
    }
    assert len(ghosts) > 5
    for at in INSTANTS:
        assert not ghosts & set(listed(planted.store, replace(EVERYTHING, at=at)))
    whole = replace(EVERYTHING, start=INSTANTS[0] - 1, until=INSTANTS[-1] + 2)
    assert not ghosts & set(listed(planted.store, whole))
    assert ghosts <= set(listed(planted.store, EVERYTHING))


def test_an_end_counts_from_when_it_was_written(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(valid_from=10, created_at=100, valid_to=50, closed_at=200))
    told = [(k, len(listed(store, Question(at=60, known_at=k)))) for k in (99, 100, 199, 200)]
    assert told == [(99, 0), (100, 1), (199, 1), (200, 0)]


def test_an_end_without_a_record_time_was_known_from_the_start(
    store: Store, make_drawer: MakeDrawer
) -> None:
    drawers.file(store, make_drawer(valid_from=10, created_at=100, valid_to=50))
    told = [(at, len(listed(store, Question(at=at, known_at=100)))) for at in (49, 50, 60)]
    assert told == [(49, 1), (50, 0), (60, 0)]


@given(questions(), st.integers(1, 60))
def test_filters_come_before_the_limit(planted: Planted, asked: Question, limit: int) -> None:
    page = listing.page_ids(planted.store, asked.scope, listing.Position(limit))
    assert [ident for _, ident in page] == expected(planted, asked)[:limit]


def test_the_last_instants_of_the_calendar_can_be_asked(planted: Planted) -> None:
    for at in (MIN_INSTANT, MAX_INSTANT):
        asked = replace(EVERYTHING, at=at)
        wanted = expected(planted, asked)
        assert listed(planted.store, asked) == wanted
        assert RecallService(planted.store).count(asked.scope) == len(wanted)


@pytest.mark.parametrize(
    ("names", "match", "found"),
    [
        (("ada",), "all", "ab"),
        (("COUNTESS",), "all", "ab"),
        (("Ada", "Bob"), "all", "b"),
        (("Ada", "Bob"), "any", "abc"),
        (("Bob", "nobody"), "all", ""),
        (("Bob", "nobody"), "any", "bc"),
        (("Ad",), "any", ""),
    ],
)
def test_entities_are_found_by_names_and_aliases(
    store: Store, make_drawer: MakeDrawer, names: tuple[str, ...], match: str, found: str
) -> None:
    for ident in "abcd":
        drawers.file(store, make_drawer(id=ident, content=f"text {ident}"))
    people = {"Ada": ["Countess"], "Bob": []}
    mentions = {"a": ["Ada"], "b": ["Ada", "Bob"], "c": ["Bob"], "d": []}
    importing.write_entities(store, [_person(*one) for one in people.items()], 0)
    pairs = [(one, entity_id(name, "person"), 0) for one, two in mentions.items() for name in two]
    importing.write_mentions(store, pairs)
    scope = Scope(Temporal.history(), entities=names, entity_match=match)
    listing_ids = [ident for _, ident in listing.page_ids(store, scope, listing.Position(10))]
    assert "".join(sorted(listing_ids)) == found
    assert timeline.count(store, scope) == len(found)


def test_a_mention_counts_from_when_it_was_recorded(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(id="a", created_at=100))
    importing.write_entities(store, [_person("Ada", [])], 100)
    importing.write_mentions(store, [("a", entity_id("Ada", "person"), 200)])
    for known_at, seen in ((199, 0), (200, 1), (None, 1)):
        scope = Scope(Temporal.history(known_at), entities=("Ada",))
        assert timeline.count(store, scope) == seen


def _person(name: str, aliases: list[str]) -> dict[str, object]:
    return {
        "id": entity_ref(entity_id(name, "person")),
        "name": name,
        "kind": "person",
        "key": name.lower(),
        "aliases": aliases,
        "names": sorted(one.casefold() for one in (name, *aliases)),
        "properties": {},
    }
