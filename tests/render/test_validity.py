from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.records import Drawer
from palace.domain.time import DAY, SECOND, Temporal
from palace.render.validity import Standing, lag_words, span_words, validity

NOW = 1000


def drawer(**given: Any) -> Drawer:
    return Drawer("d", "w", "r", "text", "hash", **{"valid_from": 100, "created_at": 100} | given)


REPLACED = drawer(valid_to=500, closed_at=510, superseded_by=("e",))
ENDED = drawer(valid_to=500, closed_at=510)


@pytest.mark.parametrize(
    ("one", "time", "expected", "badge"),
    [
        (drawer(), Temporal.as_of(NOW), Standing.TRUE, "true now"),
        (drawer(), Temporal.as_of(200), Standing.TRUE, "true then and now"),
        (drawer(), Temporal.as_of(99), Standing.FUTURE, "not yet begun"),
        (drawer(), Temporal.as_of(100), Standing.TRUE, "true then and now"),
        (REPLACED, Temporal.as_of(NOW), Standing.REPLACED, "replaced"),
        (REPLACED, Temporal.as_of(499), Standing.TRUE, "true then"),
        (REPLACED, Temporal.as_of(500), Standing.REPLACED, "replaced"),
        (ENDED, Temporal.as_of(NOW), Standing.ENDED, "ended"),
        (ENDED, Temporal.history(), Standing.ENDED, "ended"),
        (ENDED, Temporal.as_of(NOW, 509), Standing.TRUE, "true then"),
        (ENDED, Temporal.as_of(NOW, 510), Standing.ENDED, "ended"),
        (drawer(), Temporal.as_of(NOW, 99), Standing.UNKNOWN, "not yet known"),
        (drawer(valid_to=100), Temporal.as_of(NOW), Standing.EMPTY, "never true"),
        (ENDED, Temporal.between(499, 600), Standing.TRUE, "true in this period"),
        (drawer(), Temporal.between(499, 600), Standing.TRUE, "true in this period and now"),
        (ENDED, Temporal.between(500, 600), Standing.OUTSIDE, "not true in this period"),
        (drawer(superseded_by=("e",)), Temporal.as_of(NOW), Standing.TRUE, "marked as replaced"),
    ],
)
def test_standing_and_badge(one: Drawer, time: Temporal, expected: Standing, badge: str) -> None:
    found = validity(one, time, NOW)
    assert (found.standing, found.badge[1]) == (expected, badge)


def test_only_what_is_true_now_without_an_end_is_current() -> None:
    assert validity(drawer(), Temporal.as_of(NOW), NOW).is_current
    assert not validity(drawer(valid_to=2000), Temporal.as_of(NOW), NOW).is_current
    assert not validity(drawer(superseded_by=("e",)), Temporal.as_of(NOW), NOW).is_current
    assert not validity(drawer(), Temporal.as_of(200), NOW).is_current


def test_an_end_known_later_is_told() -> None:
    assert validity(ENDED, Temporal.as_of(600, 505), NOW).end_unknown
    assert validity(ENDED, Temporal.as_of(400), NOW).closes_later


@given(st.integers(0, 6), st.one_of(st.none(), st.integers(0, 6)), st.integers(0, 6))
def test_true_exactly_within_the_half_open_period(start: int, end: int | None, at: int) -> None:
    one = replace(drawer(), valid_from=start, valid_to=end)
    found = validity(one, Temporal.as_of(at), 6)
    assert (found.standing is Standing.TRUE) == (start <= at and (end is None or end > at))


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (0, "less than a second"),
        (SECOND, "1 second"),
        (90 * SECOND, "1 minute"),
        (2 * DAY, "2 days"),
        (400 * DAY, "1 year"),
        (365 * DAY * 2000, "2,000 years"),
    ],
)
def test_spans_in_words(span: int, words: str) -> None:
    assert span_words(span) == words


def test_lags_in_words() -> None:
    assert lag_words(0, 59 * SECOND) is None
    assert lag_words(0, 2 * DAY) == "2 days later"
    assert lag_words(2 * DAY, 0) == "2 days ahead"
