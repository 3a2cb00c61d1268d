"""The resident chronology stays equal to the database through random writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from palace.curation import CurationService, NewDrawer
from palace.domain.errors import Conflict
from palace.domain.query import Scope
from palace.domain.time import Temporal
from palace.recall import RecallService
from palace.store import chronology, drawers, timeline
from palace.store.connection import Address, Store
from tests.conftest import MakeDrawer, Planted, plant
from tests.oracle import ROOMS, START, TAGS, WINGS, Question

STEPS = st.integers(0, 30)


class Writes(RuleBasedStateMachine):
    """Files, supersedes and ends drawers at any instant; both ways of counting must agree."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(Address("mem://"))
        self.now = START + 40
        self.made: list[str] = []
        self.curation = CurationService(self.store, lambda: self.now)
        chronology.resident(self.store)

    def teardown(self) -> None:
        self.store.close()

    @rule(wing=st.sampled_from(WINGS[:2]), room=st.sampled_from(ROOMS[:2]), begins=STEPS)
    def file(self, wing: str, room: str, begins: int) -> None:
        wanted = NewDrawer(
            wing, room, f"memory {len(self.made)}", tags=TAGS[:1], valid_from=START + begins
        )
        self.made.append(self.curation.file_drawer(wanted).drawer.id)

    @rule(which=st.integers(0, 99), at=st.one_of(st.none(), STEPS), again=st.booleans())
    def close(self, which: int, at: int | None, again: bool) -> None:
        if not self.made:
            return
        ident = self.made[which % len(self.made)]
        options: dict[str, Any] = {"at": None if at is None else START + at}
        try:
            if again:
                outcome = self.curation.supersede(ident, f"more {len(self.made)}", **options)
                self.made.append(outcome.drawer.id)
            else:
                self.curation.invalidate(ident, **options)
        except Conflict:
            pass

    @rule(step=st.integers(1, 5))
    def wait(self, step: int) -> None:
        self.now += step

    @invariant()
    def both_count_alike(self) -> None:
        for at in (START, START + 15, START + 31, self.now, self.now + 1):
            assert _counted(self.store, Question(at=at)) == _scanned(self.store, Question(at=at))
        whole, wing = Question(), Question(start=START + 5, until=START + 20, wing=WINGS[0])
        for asked in (whole, wing):
            assert _counted(self.store, asked) == _scanned(self.store, asked)


def _counted(store: Store, asked: Question) -> tuple[object, ...]:
    changes = timeline.changes(store, asked.scope)
    counts = timeline.census(store, asked.scope)
    return counts, changes.began.tolist(), changes.ended.tolist()


def _scanned(store: Store, asked: Question) -> tuple[object, ...]:
    changes = timeline.changes(store, asked.scope, use_chronology=False)
    counts = timeline.census(store, asked.scope, use_chronology=False)
    return counts, changes.began.tolist(), changes.ended.tolist()


Writes.TestCase.settings = settings(max_examples=10, stateful_step_count=12)
TestWrites = Writes.TestCase


def test_loading_in_pages_reads_every_drawer_once(planted: Planted, monkeypatch: Any) -> None:
    for page in (7, 40, 160, 161):
        monkeypatch.setattr(chronology, "PAGE", page)
        assert chronology.load(planted.store).counts_all == len(planted.rows)


def test_a_late_load_equals_one_kept_up(store: Store) -> None:
    chronology.resident(store)
    plant(store)
    kept = timeline.census(store, Question().scope)
    chronology.forget(store)
    assert timeline.census(store, Question().scope) == kept


def test_the_tree_counts_each_room_and_keeps_empty_ones(
    store: Store, make_drawer: MakeDrawer
) -> None:
    drawers.file(store, make_drawer(room="crew", valid_from=5_000))
    drawers.file(store, make_drawer(room="routes"))
    for use_chronology in (True, False):
        palace = RecallService(store, use_chronology=use_chronology).palace(
            Question(at=2_000).scope
        )
        rooms = [(room.name, room.count) for wing in palace.wings for room in wing.rooms]
        assert (rooms, palace.total) == ([("crew", 0), ("routes", 1)], 1)
        later = replace(Question(), at=5_000).scope
        assert RecallService(store, use_chronology=use_chronology).palace(later).total == 2


def test_a_blank_project_or_branch_is_none_in_both_ways_of_counting() -> None:
    store = Store(Address("mem://"))
    chronology.resident(store)
    source = {"kind": "note", "project": "", "branch": ""}
    CurationService(store, lambda: START).file_drawer(NewDrawer("w", "r", "text", source=source))
    scope = Scope(Temporal.history())
    kept = timeline.facets(store, scope)
    chronology.forget(store)
    assert kept == timeline.facets(store, scope)
    assert kept == timeline.facets(store, scope, use_chronology=False)
    assert kept["project"] == kept["branch"] == ()
    store.close()
