"""Reads as a service: pages, stable order, the present, and what it tells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.curation import CurationService, NewDrawer
from palace.domain.errors import InvalidInput, OperationFailed, TimedOut, Unauthorized
from palace.domain.query import Scope
from palace.domain.results import AuthContext, SearchMode, SearchResult
from palace.domain.time import Temporal, print_instant
from palace.params import parse
from palace.recall import RecallService
from palace.store import drawers
from palace.store.connection import Address, Store
from tests import oracle
from tests.conftest import MakeDrawer, Planted, plant
from tests.oracle import INSTANTS, START, Question
from tests.strategies import questions, words

NOW = INSTANTS[-1] + 5


def ids(result: SearchResult) -> list[str]:
    return [hit.drawer.id for hit in result.hits]


def all_pages(service: RecallService, scope: Scope, limit: int, q: str = "") -> list[str]:
    """Every id, walked page by page."""
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = (
            service.search(q, filter=scope, limit=limit, cursor=cursor)
            if q
            else service.list_all(scope, limit, cursor)
        )
        assert page.offset == len(seen) < 1_000  # pages that never end are an error too
        seen.extend(ids(page))
        cursor = page.cursor
        if cursor is None:
            return seen


@settings(max_examples=40)
@given(questions(), st.integers(1, 50))
def test_pages_of_a_list_are_the_whole_list(planted: Planted, asked: Question, size: int) -> None:
    wanted = [row.id for row in oracle.answer(planted.rows, asked)]
    assert all_pages(RecallService(planted.store), asked.scope, size) == wanted


@settings(max_examples=40)
@given(questions(), words, st.integers(3, 50))
def test_pages_of_a_search_are_the_whole_answer(
    planted: Planted, asked: Question, words: list[str], size: int
) -> None:
    service, q = RecallService(planted.store), " ".join(words)
    whole = service.search(q, filter=asked.scope, limit=200)
    assert all_pages(service, asked.scope, size, q) == ids(whole)


@pytest.mark.parametrize("q", ["", "lynx"])
@pytest.mark.parametrize("time", [Temporal.as_of(START + 50), Temporal.history()])
def test_pages_neither_repeat_nor_lose_when_memory_changes_between_them(
    store: Store, q: str, time: Temporal
) -> None:
    now = START + 50
    curation = CurationService(store, lambda: now)
    for number in range(12):
        curation.file_drawer(NewDrawer("atlas", "routes", f"lynx {number}", valid_from=START))
    for number in range(14):
        curation.file_drawer(NewDrawer("atlas", "routes", f"puma {number}", valid_from=START))
    service, scope = RecallService(store), Scope(time, asked_at=now)
    whole = all_pages(service, scope, 200, q)
    first = service.search(q, filter=scope, limit=5) if q else service.list_all(scope, 5)
    seen, cursor = ids(first), first.cursor
    while cursor:
        now += 10
        for ident in (whole[0], whole[-1]):
            current = service.chain(ident).versions[-1].id
            curation.supersede(current, f"lynx again {now} {ident}", at=START + now % 1000)
        page = (
            service.search(q, filter=scope, limit=5, cursor=cursor)
            if q
            else service.list_all(scope, 5, cursor)
        )
        seen, cursor = seen + ids(page), page.cursor
    assert sorted(seen) == sorted(whole)


def test_pages_of_a_ranking_stay_whole_when_the_weights_of_words_change(store: Store) -> None:
    now = START + 50
    curation = CurationService(store, lambda: now)
    for number in range(40):
        words = ("lynx puma", "ibex emu gnu", "kiwi")[number % 3]
        curation.file_drawer(NewDrawer("atlas", "routes", f"{words} {number}", valid_from=START))
    service, scope = RecallService(store), Scope(Temporal.as_of(now), asked_at=now)
    whole = ids(service.search("lynx ibex", filter=scope, limit=200))
    first = service.search("lynx ibex", filter=scope, limit=6)
    now += 10
    for number in range(60):
        curation.file_drawer(NewDrawer("atlas", "crew", f"ibex later {number}"))
    seen, cursor = ids(first), first.cursor
    while cursor:
        page = service.search("lynx ibex", filter=scope, limit=6, cursor=cursor)
        seen, cursor = seen + ids(page), page.cursor
    assert sorted(seen) == sorted(whole)


def test_the_order_is_the_same_over_many_runs_and_after_a_reopening(tmp_path: Path) -> None:
    address = Address(f"surrealkv://{tmp_path}/palace")
    store = Store(address)
    plant(store)
    scopes = [Question().scope, Question(at=INSTANTS[9], stale="include").scope]
    first = _orders(store, scopes)
    assert all(_orders(store, scopes) == first for _ in range(20))
    store.close()
    again = Store(address)
    assert _orders(again, scopes) == first
    again.close()


def _orders(store: Store, scopes: list[Scope]) -> list[list[str]]:
    service = RecallService(store)
    return [
        ids(answer)
        for scope in scopes
        for answer in (
            service.search("lynx kiwi", filter=scope, limit=200),
            service.list_all(scope, 200),
        )
    ]


def test_now_is_as_of_the_clock_and_the_future_is_in_neither(
    store: Store, make_drawer: MakeDrawer
) -> None:
    drawers.file(store, make_drawer(id="held", valid_from=NOW))
    drawers.file(store, make_drawer(id="future", valid_from=NOW + 1))
    service = RecallService(store)
    for parameters in ({}, {"as_of": [print_instant(NOW)]}):
        scope = parse(parameters, NOW).scope
        assert scope.time == Temporal.as_of(NOW)
        assert ids(service.list_all(scope, 10)) == ["held"]


@given(st.integers(-23 * 60 - 59, 23 * 60 + 59))
def test_an_instant_in_any_offset_is_the_same_question(planted: Planted, minutes: int) -> None:
    at = INSTANTS[9]
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    local = moment.astimezone(timezone(timedelta(minutes=minutes))).isoformat()
    plain, other = (parse({"as_of": [text]}, NOW) for text in (print_instant(at), local))
    assert other.query() == plain.query()
    service = RecallService(planted.store)
    assert ids(service.list_all(other.scope, 200)) == ids(service.list_all(plain.scope, 200))


def test_a_day_as_a_window_is_that_day() -> None:
    asked = parse({"from": ["2026-05-04"], "until": ["2026-05-04"]}, NOW)
    day = parse({"from": ["2026-05-04"], "until": ["2026-05-05"]}, NOW)
    assert asked.scope.time == day.scope.time


@pytest.mark.parametrize(("limit", "taken"), [(0, 1), (-5, 1), (201, 200), (10**9, 200)])
def test_a_limit_is_clamped_and_told(planted: Planted, limit: int, taken: int) -> None:
    page = RecallService(planted.store).list_all(Question(stale="include").scope, limit)
    assert len(page.hits) == min(taken, len(planted.rows))
    assert [one.code for one in page.notices] == ["memcastle::input::clamped"]


def test_unknown_places_are_told(planted: Planted) -> None:
    scope = Question(wing="nowhere", room="routes").scope
    page = RecallService(planted.store).list_all(scope, 10)
    codes = [one.code for one in page.notices]
    wing, room = "memcastle::palace::wing_not_found", "memcastle::palace::room_not_found"
    assert (page.total, codes) == (0, [wing, room])


@pytest.mark.parametrize("ranking", ["semantic", "hybrid", "vector"])
def test_a_ranking_that_needs_vectors_is_refused_without_them(
    planted: Planted, ranking: str
) -> None:
    mode = SearchMode(ranking)
    with pytest.raises(InvalidInput) as refused:
        RecallService(planted.store).search("lynx", ranking=mode, filter=Question().scope)
    assert refused.value.code == "memcastle::search::semantic_unavailable"


def test_a_search_past_its_deadline_is_told(planted: Planted) -> None:
    slow = _Slow(planted.store)
    with pytest.raises(TimedOut):
        RecallService(slow, timeout_ms=50).search("lynx", filter=Question().scope)  # type: ignore[arg-type]


class _Slow:
    """A store whose every answer takes a fifth of a second longer."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def query_all(self, sql: str, /, **options: object) -> list[object]:
        return self._store.query_all(f"RETURN sleep(200ms); {sql}", **options)[1:]  # type: ignore[arg-type]


def test_without_an_index_it_says_so() -> None:
    with pytest.raises(OperationFailed):
        RecallService().count(Question().scope)


def test_reading_needs_the_permission(planted: Planted) -> None:
    service, ident = RecallService(planted.store), planted.rows[0].id
    with pytest.raises(Unauthorized):
        service.get_by_id_authorized(ident, AuthContext())
    found = service.get_by_id_authorized(ident, AuthContext("ada", frozenset({"view"})))
    assert found is not None
    assert found.id == ident


def test_recent_is_the_newest_with_content(planted: Planted) -> None:
    asked = Question(at=INSTANTS[9])
    found = RecallService(planted.store).recent(3, asked.scope)
    wanted = oracle.answer(planted.rows, asked)[:3]
    assert [(one.id, one.content) for one in found] == [(one.id, one.content) for one in wanted]


def test_a_page_shows_each_version_in_its_chain(store: Store) -> None:
    now = START
    curation = CurationService(store, lambda: now)
    first = curation.file_drawer(NewDrawer("atlas", "routes", "lynx")).drawer
    now += 5
    curation.supersede(first.id, "ibex")
    page = RecallService(store).list_all(Scope(Temporal.history()), 10)
    assert [(hit.version, hit.versions) for hit in page.hits] == [(2, 2), (1, 2)]
