"""The lexical leg against the oracle."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.domain.errors import InvalidInput, PalaceError
from palace.domain.text import cut_query
from palace.recall import RecallService
from palace.store import drawers, search
from palace.store.connection import Store
from tests import oracle
from tests.conftest import MakeDrawer, Planted
from tests.oracle import START, WORDS, Question
from tests.strategies import questions, words


def found(store: Store, asked: Question, text: str) -> list[search.Match]:
    """All matches as the palace ranks them."""
    query = cut_query(text)
    common = search.common_words(store, query)
    return search.matches(store, asked.scope, query, common, None)


def expected(planted: Planted, asked: Question, words: list[str], phrase: str = "") -> set[str]:
    rows = oracle.answer(planted.rows, asked)
    return {row.id for row in rows if oracle.holds_words(row, words, phrase)}


@settings(max_examples=120)
@given(questions(), words)
def test_matches_are_the_scope_and_the_words(
    planted: Planted, asked: Question, words: list[str]
) -> None:
    text = " ".join(words)
    assert {one.id for one in found(planted.store, asked, text)} == expected(planted, asked, words)


@given(questions(), st.lists(st.sampled_from(WORDS), min_size=2, max_size=2))
def test_a_quoted_phrase_must_stand_together(
    planted: Planted, asked: Question, pair: list[str]
) -> None:
    phrase = " ".join(pair)
    matches = found(planted.store, asked, f'"{phrase.upper()}"')
    assert {one.id for one in matches} == expected(planted, asked, [], phrase)


@given(questions(), words)
def test_all_words_come_first_then_the_score_then_the_id(
    planted: Planted, asked: Question, words: list[str]
) -> None:
    matches = found(planted.store, asked, " ".join(words))
    held = {row.id: set(row.content.split()) for row in planted.rows}
    assert [one.has_all for one in matches] == [set(words) <= held[one.id] for one in matches]
    keys = [(not one.has_all, -one.score, one.id) for one in matches]
    assert keys == sorted(keys)


@given(questions(), words)
def test_a_match_brings_what_it_is_counted_by(
    planted: Planted, asked: Question, words: list[str]
) -> None:
    rows = {row.id: row for row in planted.rows}
    for one in found(planted.store, asked, " ".join(words)):
        row = rows[one.id]
        counted = (row.wing, row.room, row.source["kind"], row.tags)
        assert (one.wing, one.room, one.kind, one.tags) == counted


@given(questions(), words)
def test_facets_of_a_search_keep_the_alternatives(
    planted: Planted, asked: Question, words: list[str]
) -> None:
    service = RecallService(planted.store)
    result = service.search(" ".join(words), filter=asked.scope, facets=True)
    matching = [row for row in planted.rows if oracle.holds_words(row, words)]
    wanted = oracle.facets(matching, asked)
    assert {
        name: {(one.value, one.wing): one.count for one in values}
        for name, values in result.facets.items()
    } == {name: dict(counts) for name, counts in wanted.items()}
    assert result.total == len(expected(planted, asked, words))


@settings(max_examples=60)
@given(questions(), words, st.integers(1, 40))
def test_the_scope_is_cut_before_the_limit(
    planted: Planted, asked: Question, words: list[str], limit: int
) -> None:
    text = " ".join(words)
    result = RecallService(planted.store).search(text, filter=asked.scope, limit=limit)
    everything = [one.id for one in found(planted.store, asked, text)]
    assert [hit.drawer.id for hit in result.hits] == everything[:limit]


HOME = Question(
    at=START + 10,
    known_at=START + 10,
    wing="atlas",
    room="routes",
    tags=("alpha", "beta"),
    source_kind="file",
    project="mapper",
    branch="main",
    path="docs",
    agent="ada",
)
INSIDE = {
    "valid_from": START,
    "created_at": START,
    "tags": ("alpha", "beta", "gamma"),
    "source": {
        "kind": "file",
        "project": "mapper",
        "branch": "main",
        "path": "docs/a.md",
        "agent": "ada",
    },
}
# One drawer for every clause, which breaks that clause alone.
DECOYS: dict[str, dict[str, object]] = {
    "wing": {"wing": "borealis"},
    "room": {"room": "crew"},
    "tags": {"tags": ("alpha",)},
    **{
        name: {"source": INSIDE["source"] | {name: other}}  # type: ignore[operator]
        for name, other in (
            ("kind", "note"),
            ("project", "sextant"),
            ("branch", "old"),
            ("path", "docs2/a.md"),
            ("agent", "bo"),
        )
    },
    "not begun": {"valid_from": START + 11},
    "ended": {"valid_to": START + 10, "closed_at": START + 10},
    "not yet known": {"created_at": START + 11},
}


def test_one_decoy_for_every_clause_stays_out_of_every_leg(
    store: Store, make_drawer: MakeDrawer
) -> None:
    inside = [make_drawer(content=f"lynx inside {n}", **INSIDE) for n in range(3)]
    decoys = [
        make_drawer(content=f"lynx lynx {name}", **(INSIDE | changed))
        for name, changed in DECOYS.items()
    ]
    for one in [*decoys, *inside]:
        drawers.file(store, one)
    wanted = {one.id for one in inside}
    service = RecallService(store)
    assert {one.id for one in found(store, HOME, "lynx")} == wanted
    listed = service.list_all(HOME.scope, 200)
    assert {hit.drawer.id for hit in listed.hits} == wanted
    assert service.count(HOME.scope) == len(wanted) == listed.total
    assert len(service.search("lynx", filter=HOME.scope, limit=3).hits) == 3
    open_place = replace(HOME.scope, wing=None, room=None, tags=(), source_kind=None)
    assert sum(one.count for one in service.facets(HOME.scope)["source_kind"]) == 4
    assert sum(one.count for one in service.facets(open_place)["wing"]) == 7


def test_words_of_half_of_the_drawers_match_without_ranking(
    store: Store, make_drawer: MakeDrawer
) -> None:
    for number in range(6):
        text = f"lynx ibex {number}" if number == 3 else f"lynx {number}"
        drawers.file(store, make_drawer(content=text))
    scope = Question(at=2_000).scope
    result = RecallService(store).search("lynx", filter=scope)
    assert result.total == 6
    assert [one.code for one in result.notices] == ["memcastle::search::common_words"]
    both = RecallService(store).search("lynx ibex", filter=scope)
    assert (both.hits[0].drawer.content, both.seam, both.total) == ("lynx ibex 3", 1, 6)


def test_text_without_spaces_is_found_by_its_parts(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(id="tokyo", content="東京都の記憶"))
    drawers.file(store, make_drawer(id="kyoto", content="京都の記憶"))
    service, scope = RecallService(store), Question(at=2_000).scope
    asked = {text: service.search(text, filter=scope).hits for text in ("東京", "京都", "都")}
    assert [hit.drawer.id for hit in asked["東京"]] == ["tokyo"]
    assert {hit.drawer.id for hit in asked["京都"]} == {"tokyo", "kyoto"}
    assert {hit.drawer.id for hit in asked["都"]} == {"tokyo", "kyoto"}


def test_words_beside_unspaced_text_must_both_match(store: Store, make_drawer: MakeDrawer) -> None:
    for ident, content in (("both", "lynx 東京都"), ("word", "lynx 京都"), ("run", "puma 東京都")):
        drawers.file(store, make_drawer(id=ident, content=content))
    result = RecallService(store).search("lynx 東京", filter=Question(at=2_000).scope)
    assert [hit.drawer.id for hit in result.hits] == ["both"]


def test_very_common_words_list_what_holds_all_of_them_newest_first(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ALWAYS_SCORED", 5)
    monkeypatch.setattr(search, "MOST_SCORED", 10)
    monkeypatch.setitem(planted.store.caches, "frequencies", {})
    asked = Question(stale="include")
    result = RecallService(planted.store).search("lynx ibex", filter=asked.scope, limit=200)
    rows = oracle.answer(planted.rows, asked)
    whole = [row.id for row in rows if {"lynx", "ibex"} <= set(row.content.split())]
    assert [hit.drawer.id for hit in result.hits] == whole
    assert (result.ranking, result.total) == ("newest", None)


def test_marks_are_where_the_words_stand(store: Store, make_drawer: MakeDrawer) -> None:
    content = "🦊 The LYNX ran; lynxes run. c++"
    drawers.file(store, make_drawer(content=content))
    drawers.file(store, make_drawer(content="nothing here"))
    drawers.file(store, make_drawer(content="nothing there"))
    scope = Question(at=2_000).scope
    hit = RecallService(store).search("lynx C++", filter=scope).hits[0]
    assert [content[start:end] for start, end in hit.highlights] == ["LYNX", "lynxes", "c++"]


@settings(max_examples=100)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text(alphabet="lynx 東京c+._-\"*()%$\\\n'🦊\u0301", min_size=1, max_size=40),
    )
)
def test_any_text_can_be_asked(planted: Planted, text: str) -> None:
    with contextlib.suppress(InvalidInput):
        assert RecallService(planted.store).search(text, filter=Question().scope).total is not None


@pytest.mark.parametrize("text", ["", "  ", "\n", "x" * 10_001])
def test_blank_and_endless_queries_are_refused(planted: Planted, text: str) -> None:
    with pytest.raises(PalaceError) as refused:
        RecallService(planted.store).search(text, filter=Question().scope)
    assert refused.value.code == "memcastle::input::invalid"


def test_a_room_that_was_made_a_moment_ago_is_named(store: Store, make_drawer: MakeDrawer) -> None:
    drawers.file(store, make_drawer(id="a", room="old", content="tide"))
    everything = Question(stale="include")
    assert [one.room for one in found(store, everything, "tide")] == ["old"]
    before = store.version
    drawers.file(store, make_drawer(id="b", room="new", content="tide"))
    store.version = before  # as a reader sees it between the commit and its count
    assert {one.room for one in found(store, everything, "tide")} == {"old", "new"}
