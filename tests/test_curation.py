"""Writes: supersession, its partitions of time, its refusals, and a past that stays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.curation import CurationService, NewDrawer
from palace.domain.errors import Conflict, InvalidInput, NotFound, PalaceError, Unauthorized
from palace.domain.query import Scope
from palace.domain.results import AuthContext
from palace.domain.time import MAX_INSTANT, Temporal
from palace.recall import RecallService
from palace.store import drawers
from palace.store.connection import Address, Store
from tests.conftest import MakeDrawer
from tests.oracle import START

CONFLICT = "memcastle::palace::"


@dataclass
class Clock:
    """A clock that stands where it is put."""

    now: int = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def curation(store: Store, clock: Clock) -> CurationService:
    return CurationService(store, clock)


@pytest.fixture(scope="module")
def shared() -> Any:
    """One palace for many examples; each takes a wing of its own."""
    opened = Store(Address("mem://"))
    yield opened
    opened.close()


def wanted(content: str = "first", **given: Any) -> NewDrawer:
    return NewDrawer("atlas", "routes", content, **given)


def valid_at(store: Store, instant: int, **place: str) -> list[str]:
    """Contents as of an instant, listed with and without the chronology."""
    scope = Scope(Temporal.as_of(instant), **place)
    found = RecallService(store).list_all_with_content(scope, 200)
    assert found.total == RecallService(store, use_chronology=False).count(scope)
    return [hit.drawer.content for hit in found.hits]


def test_a_filed_drawer_comes_back_verbatim(curation: CurationService) -> None:
    outcome = curation.file_drawer(wanted(" Text\r\n", name="plan", tags=["b", "a"]))
    drawer = outcome.drawer
    assert (drawer.content, drawer.name, drawer.tags) == (" Text\r\n", "plan", ("b", "a"))
    assert (drawer.valid_from, drawer.created_at, outcome.created) == (START, START, True)


def test_the_same_text_is_filed_once_and_told(curation: CurationService) -> None:
    first = curation.file_drawer(wanted())
    again = curation.file_drawer(wanted())
    assert (again.created, again.drawer.id) == (False, first.drawer.id)
    assert [one.code for one in again.notices] == ["memcastle::palace::already_filed"]


numbers = count()  # every example has a wing of its own
steps = st.lists(st.integers(1, 4), min_size=1, max_size=6)


@settings(max_examples=25)
@given(steps)
def test_supersession_tiles_the_chain_and_one_version_holds_at_every_instant(
    shared: Store, steps: list[int]
) -> None:
    wing = f"wing {next(numbers)}"
    clock = Clock()
    curation = CurationService(shared, clock)
    line = [curation.file_drawer(NewDrawer(wing, "routes", f"{wing} 0", name="plan")).drawer]
    for number, step in enumerate(steps, start=1):
        clock.now += step
        line.append(curation.supersede(line[-1].id, f"{wing} {number}").drawer)
    versions = RecallService(shared).chain(line[0].id).versions
    assert [one.id for one in versions] == [one.id for one in line]
    for old, new in pairwise(versions):
        assert old.valid_to == new.valid_from
        assert (old.superseded_by, new.supersedes) == ((new.id,), (old.id,))
    assert versions[-1].valid_to is None
    for instant in range(START - 1, clock.now + 2):
        begun = [one for one in versions if one.valid_from <= instant]
        holds = [f"{wing} {len(begun) - 1}"] if begun else []
        assert valid_at(shared, instant, wing=wing) == holds
        scope = Scope(Temporal.as_of(instant), wing=wing, room="routes")
        named = RecallService(shared).get_by_name(scope, "plan")
        assert (named.content if named else None) == (holds[0] if holds else None)


def test_a_given_instant_is_where_one_ends_and_the_next_begins(
    curation: CurationService, clock: Clock
) -> None:
    old = curation.file_drawer(wanted()).drawer
    clock.now += 1_000
    outcome = curation.supersede(old.id, "second", at=START + 10)
    assert outcome.closed is not None
    assert (outcome.closed.valid_to, outcome.drawer.valid_from) == (START + 10, START + 10)
    assert (outcome.closed.closed_at, outcome.drawer.created_at) == (clock.now, clock.now)
    around = [valid_at(curation.store, START + step) for step in (9, 10)]
    assert around == [["first"], ["second"]]


def test_what_is_superseded_stays_as_it_was(curation: CurationService, clock: Clock) -> None:
    ident = curation.file_drawer(wanted(name="plan", tags=["a"])).drawer.id
    raw = "SELECT * FROM ONLY type::record('drawer', $id)"
    before = curation.store.query(raw, id=ident)
    clock.now += 5
    curation.supersede(ident, "second", reason="wrong")
    after = curation.store.query(raw, id=ident)
    closing = {"valid_to", "superseded_by", "close_reason", "closed_at", "updated_at"}
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed == closing | {"name", "former_name"}
    assert (after.get("name"), after["former_name"]) == (None, "plan")


def test_the_replacement_takes_place_name_and_tags(curation: CurationService, clock: Clock) -> None:
    old = curation.file_drawer(wanted(name="plan", tags=["a"])).drawer
    clock.now += 5
    new = curation.supersede(old.id, "second").drawer
    assert (new.wing, new.room, new.name, new.tags) == (old.wing, old.room, "plan", ("a",))
    clock.now += 5
    assert curation.supersede(new.id, "third", tags=[]).drawer.tags == ()


def count_versions(store: Store) -> int:
    return RecallService(store, use_chronology=False).count(Scope(Temporal.history()))


def refused(act: Callable[[], object], code: str, store: Store) -> None:
    """The act is a conflict of that code, and no version came of it."""
    before = count_versions(store)
    with pytest.raises(Conflict) as conflict:
        act()
    assert conflict.value.code == CONFLICT + code
    assert count_versions(store) == before


def test_a_drawer_is_superseded_once(curation: CurationService, clock: Clock) -> None:
    ident = curation.file_drawer(wanted()).drawer.id
    clock.now += 5
    curation.supersede(ident, "second")
    for act in (lambda: curation.supersede(ident, "third"), lambda: curation.invalidate(ident)):
        refused(act, "drawer_superseded", curation.store)


def test_an_ended_drawer_stays_ended(curation: CurationService, clock: Clock) -> None:
    ident = curation.file_drawer(wanted()).drawer.id
    clock.now += 5
    ended = curation.invalidate(ident, reason="obsolete").drawer
    assert (ended.valid_to, ended.close_reason) == (clock.now, "obsolete")
    for act in (lambda: curation.supersede(ident, "x"), lambda: curation.invalidate(ident)):
        refused(act, "drawer_ended", curation.store)


def test_a_stale_look_is_a_conflict(curation: CurationService, clock: Clock) -> None:
    ident = curation.file_drawer(wanted()).drawer.id
    seen = drawers.updated_at(curation.store, ident)
    assert seen == START
    clock.now += 5
    refused(lambda: curation.supersede(ident, "x", seen=seen + 1), "drawer_changed", curation.store)
    refused(lambda: curation.invalidate(ident, seen=seen - 1), "drawer_changed", curation.store)
    assert curation.supersede(ident, "second", seen=seen).created


@pytest.mark.parametrize("at", [START - 1, START])
def test_an_end_lies_after_the_beginning(curation: CurationService, clock: Clock, at: int) -> None:
    ident = curation.file_drawer(wanted()).drawer.id
    clock.now += 5
    act = lambda: curation.supersede(ident, "second", at=at)  # noqa: E731
    refused(act, "not_after_valid_from", curation.store)


def test_nothing_follows_the_last_instant(curation: CurationService) -> None:
    last = curation.file_drawer(wanted(valid_from=MAX_INSTANT)).drawer
    refused(lambda: curation.supersede(last.id, "x"), "not_after_valid_from", curation.store)
    refused(lambda: curation.invalidate(last.id), "not_after_valid_from", curation.store)


def test_an_end_does_not_lie_in_the_future(curation: CurationService, clock: Clock) -> None:
    ident = curation.file_drawer(wanted()).drawer.id
    clock.now += 5
    with pytest.raises(InvalidInput, match="future"):
        curation.invalidate(ident, at=clock.now + 1)
    assert curation.invalidate(ident, at=clock.now).drawer.valid_to == clock.now


@pytest.mark.parametrize("back", [0, 1, 10**9])
def test_a_clock_that_runs_behind_ends_just_after_the_beginning_and_says_so(
    curation: CurationService, clock: Clock, back: int
) -> None:
    ident = curation.file_drawer(wanted()).drawer.id
    clock.now -= back
    outcome = curation.supersede(ident, "second")
    assert outcome.drawer.valid_from == START + 1
    assert [one.code for one in outcome.notices] == ["memcastle::palace::clock_behind"]
    refusal = InvalidInput if back == 0 else PalaceError
    with pytest.raises(refusal):
        curation.supersede(outcome.drawer.id, "third", at=START + 1)


def test_of_eight_threads_that_supersede_one_drawer_one_wins(
    curation: CurationService, clock: Clock
) -> None:
    ident = curation.file_drawer(wanted()).drawer.id
    clock.now += 5
    gate, told = threading.Barrier(8), []

    def act(number: int) -> None:
        gate.wait()
        try:
            told.append(curation.supersede(ident, f"version {number}").drawer.id)
        except PalaceError as error:
            told.append(error.code)

    threads = [threading.Thread(target=act, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count(CONFLICT + "drawer_superseded") == 7
    assert count_versions(curation.store) == 2
    assert len(valid_at(curation.store, clock.now)) == 1


acts = st.lists(
    st.tuples(st.sampled_from(("file", "supersede", "invalidate")), st.integers(0, 60)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=20)
@given(acts, acts)
def test_what_was_known_stays_the_same_after_every_later_write(
    shared: Store, before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    wing = f"wing {next(numbers)}"
    clock = Clock(START + 50)
    curation = CurationService(shared, clock)
    made: list[str] = []
    write_all(curation, clock, made, before, wing)
    known = clock.now
    past = answers(shared, known, wing)
    clock.now += 1
    write_all(curation, clock, made, after, wing)
    assert answers(shared, known, wing) == past


def write_all(
    curation: CurationService, clock: Clock, made: list[str], acts: list[tuple[str, int]], wing: str
) -> None:
    """Writes that reach back in time; what the rules refuse changes nothing."""
    for act, number in acts:
        clock.now += number % 3
        at, text = START + number, f"lynx {wing} {len(made)}"
        try:
            if act == "file" or not made:
                filed = NewDrawer(wing, "routes", text, valid_from=at)
                made.append(curation.file_drawer(filed).drawer.id)
            elif act == "supersede":
                made.append(curation.supersede(made[number % len(made)], text, at=at).drawer.id)
            else:
                curation.invalidate(made[number % len(made)], at=at)
        except (Conflict, InvalidInput):
            continue


def answers(store: Store, known: int, wing: str) -> list[object]:
    """What the palace lists, counts, finds and hashes for some instants as it was known then."""
    told: list[object] = []
    for instant in range(START - 1, START + 62, 7):
        scope = Scope(Temporal.as_of(instant, known), wing=wing)
        service = RecallService(store)
        listed = [
            (hit.drawer.id, hit.drawer.content_hash) for hit in service.list_all(scope, 200).hits
        ]
        found = service.search("lynx", filter=scope, limit=200)
        told.append((listed, service.count(scope), sorted(hit.drawer.id for hit in found.hits)))
    return told


@pytest.mark.parametrize(
    "odd",
    [
        {"content": ""},
        {"content": "a\x00b"},
        {"content": "half \ud800"},
        {"wing": " "},
        {"room": "\udfff"},
        {"name": ""},
        {"tags": ["a,b"]},
        {"source": {"kind": "rumour"}},
        {"source": {"kind": "file", "path": "\ud800"}},
    ],
)
def test_what_is_no_text_is_refused_at_the_door(
    curation: CurationService, odd: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        curation.file_drawer(replace(wanted(), **odd))
    assert refusal.value.code.startswith("memcastle::input::")
    assert count_versions(curation.store) == 0


def test_an_unknown_drawer_cannot_be_superseded(curation: CurationService) -> None:
    with pytest.raises(NotFound):
        curation.supersede("nowhere", "x")


def test_a_taken_name_is_a_conflict_and_a_freed_one_is_not(
    curation: CurationService, clock: Clock
) -> None:
    first = curation.file_drawer(wanted(name="plan")).drawer
    second = wanted("second", name="plan")
    refused(lambda: curation.file_drawer(second), "drawer_name_taken", curation.store)
    clock.now += 5
    curation.invalidate(first.id)
    assert curation.file_drawer(second).created


def test_writing_needs_the_permission(curation: CurationService) -> None:
    with pytest.raises(Unauthorized):
        curation.authorized(AuthContext("ada", frozenset({"view"})))
    allowed = curation.authorized(AuthContext("ada", frozenset({"supersede"})))
    assert allowed.file_drawer(wanted()).drawer.provenance == {"requested_by": "ada"}


def test_places_are_made_once(curation: CurationService) -> None:
    assert curation.ensure_room("atlas", "routes", "Ways")
    assert not curation.ensure_room("atlas", "routes")
    assert not curation.ensure_wing("atlas")
    room = RecallService(curation.store).room("atlas", "routes")
    assert room is not None
    assert room.description == "Ways"


def test_undoing_makes_a_third_version_and_leaves_the_past(
    curation: CurationService, clock: Clock, make_drawer: MakeDrawer
) -> None:
    first = curation.file_drawer(wanted()).drawer
    clock.now += 5
    second = curation.supersede(first.id, "second").drawer
    clock.now += 5
    curation.supersede(second.id, "first")
    chain = RecallService(curation.store).chain(first.id, content=True).versions
    assert [one.content for one in chain] == ["first", "second", "first"]
    assert valid_at(curation.store, START + 4) == ["first"]
