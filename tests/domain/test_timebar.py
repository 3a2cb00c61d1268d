"""Buckets of the time bar against counting by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.time import DAY, MAX_INSTANT, MIN_INSTANT
from palace.domain.timebar import MOST_STOPS, choose_step, time_bar

NOW = 1_767_225_600_000_000
spans = st.lists(
    st.tuples(st.integers(0, 400 * DAY), st.one_of(st.none(), st.integers(1, 90 * DAY))),
    max_size=12,
)


@given(spans, st.sampled_from((None, DAY, 7 * DAY)))
def test_buckets_count_what_begins_ends_and_holds(
    drawn: list[tuple[int, int | None]], step: int | None
) -> None:
    lives = [(NOW - back, None if n is None else NOW - back + n) for back, n in drawn]
    began = np.array(sorted(start for start, _ in lives), np.int64)
    ended = np.array(sorted(end for _, end in lives if end is not None), np.int64)
    bar = time_bar(began, ended, NOW, step)
    for bucket in bar.buckets:
        inside = range(bucket.start, bucket.until)
        assert bucket.began == sum(start in inside for start, _ in lives)
        assert bucket.ended == sum(end in inside for _, end in lives if end is not None)
        at = bucket.start
        assert bucket.valid == sum(s <= at and (e is None or at < e) for s, e in lives)
    assert bar.buckets[-1].start <= NOW < bar.buckets[-1].until
    assert all(a.until == b.start for a, b in zip(bar.buckets, bar.buckets[1:], strict=False))


@given(st.integers(0, MAX_INSTANT))
def test_every_span_fits_the_stops(span: int) -> None:
    step = choose_step(span)
    assert span // step + 1 <= MOST_STOPS


def test_an_empty_palace_has_one_bucket() -> None:
    bar = time_bar(np.array([], np.int64), np.array([], np.int64), NOW)
    assert len(bar.buckets) == 1
    assert (bar.first, bar.last) == (None, None)


def test_positions_are_clamped_to_the_ends() -> None:
    bar = time_bar(np.array([NOW - 30 * DAY], np.int64), np.array([], np.int64), NOW)
    assert bar.position(0) == 0
    assert bar.position(MAX_INSTANT) == len(bar.buckets) - 1
    assert bar.position(bar.buckets[3].start) == 3


def test_a_memory_from_the_first_day_of_the_calendar_has_its_bucket() -> None:
    bar = time_bar(np.array([MIN_INSTANT], np.int64), np.array([], np.int64), NOW)
    assert bar.buckets[0].start == MIN_INSTANT
    assert bar.buckets[0].began == 1
    assert bar.buckets[-1].start <= NOW < bar.buckets[-1].until
    assert len(bar.buckets) <= MOST_STOPS
