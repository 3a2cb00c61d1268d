"""Placing versions of one key in time."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from palace.domain.chains import Link, place
from palace.domain.time import MAX_INSTANT

periods = st.lists(
    st.tuples(st.integers(0, 30), st.none() | st.integers(0, 60), st.integers(0, 5)), max_size=12
)


def links_of(rows: list[tuple[int, int | None, int]]) -> list[Link]:
    return [
        Link(f"{number}", start, end, created, number)
        for number, (start, end, created) in enumerate(rows)
    ]


@given(periods)
def test_versions_never_overlap_and_keep_their_order(rows):
    placed = place(links_of(rows)).links
    for one, following in itertools.pairwise(placed):
        assert one.valid_from < following.valid_from
        assert one.valid_to is not None
        assert one.valid_to <= following.valid_from
        assert (one.after, following.before) == (following.id, one.id)


@given(periods)
def test_an_earlier_end_is_a_gap_and_a_later_one_is_cut(rows):
    links = links_of(rows)
    placed = place(links)
    given_ends = {link.id: link.valid_to for link in links}
    cut = 0
    for one, following in itertools.pairwise(placed.links):
        wanted = given_ends[one.id]
        if wanted is not None and wanted > following.valid_from:
            cut += 1
        expected = following.valid_from if wanted is None else min(wanted, following.valid_from)
        assert one.valid_to == expected
    assert placed.cut == cut


def test_equal_starts_are_moved_apart_in_file_order():
    placed = place(links_of([(5, None, 0), (5, None, 0), (5, None, 0)]))
    assert [(link.id, link.valid_from) for link in placed.links] == [("0", 5), ("1", 6), ("2", 7)]
    assert placed.moved == 2


def test_newer_rows_continue_a_stored_chain():
    stored = Link("s", 1, None, 0, there=True)
    placed = place([stored, Link("n", 4, None, 9, 1)])
    assert placed.links[0].valid_to == 4
    assert placed.links[0].closed_at == 9
    assert not placed.refused


def test_rows_that_would_rewrite_the_past_are_refused_unless_asked():
    stored = Link("s", 5, None, 0, there=True)
    old = Link("o", 3, None, 0, 1)
    assert [link.id for link in place([stored, old]).refused] == ["o"]
    rewritten = place([stored, old], rewrite=True)
    assert [(link.id, link.valid_to) for link in rewritten.links] == [("o", 5), ("s", None)]


def test_rows_filed_before_are_never_refused():
    stored = Link("s", 5, None, 0, there=True)
    mine = Link("m", 3, 5, 0, 1, stored=True)
    assert not place([stored, mine]).refused


def test_no_start_is_moved_beyond_the_calendar():
    placed = place(links_of([(MAX_INSTANT, None, 0), (MAX_INSTANT, None, 0)]))
    assert [(link.id, link.valid_to) for link in placed.links] == [("0", None)]
    assert [link.id for link in placed.beyond] == ["1"]
