"""Instants as text, and the temporal choice."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from palace.domain.errors import InvalidInput
from palace.domain.time import (
    DAY,
    MAX_INSTANT,
    MIN_INSTANT,
    Temporal,
    day_window,
    parse_instant,
    print_instant,
    print_short,
    state_at,
)

instants = st.integers(MIN_INSTANT, MAX_INSTANT)
offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59)
LEAP_DAY = 1_709_164_800_000_000  # 2024-02-29


def written_at_offset(instant: int, minutes: int) -> str:
    """The instant as RFC 3339 in another offset, by the standard library."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)
    return moment.astimezone(timezone(timedelta(minutes=minutes))).isoformat()


@given(instants, instants)
@example(LEAP_DAY - 1, LEAP_DAY)
def test_text_order_is_time_order(a: int, b: int) -> None:
    assert (print_instant(a) < print_instant(b)) == (a < b)
    assert len(print_instant(a)) == 27


@given(instants)
@example(MIN_INSTANT)
@example(MAX_INSTANT)
@example(-1)
@example(LEAP_DAY)
def test_printing_and_parsing_gives_the_instant_back(instant: int) -> None:
    assert parse_instant(print_instant(instant)) == instant
    assert parse_instant(print_short(instant)) == instant


@given(st.integers(MIN_INSTANT + 2 * DAY, MAX_INSTANT - 2 * DAY), offsets)
@example(LEAP_DAY, -1439)
@example(LEAP_DAY, 1439)
def test_an_instant_is_the_same_in_every_offset(instant: int, minutes: int) -> None:
    assert parse_instant(written_at_offset(instant, minutes)) == instant


@given(st.datetimes())
def test_the_number_counts_whole_microseconds(moment: datetime) -> None:
    since = moment - datetime(1970, 1, 1)  # noqa: DTZ001
    counted = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    assert parse_instant(f"{moment.isoformat()}Z") == counted


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-14T09:30:00.1234567Z",
        "2026-12-31T23:59:60Z",
        "2026-03-14T24:00:00Z",
        "2026-03-14T09:30:00",
        "2026-02-29",
        "2026-13-01",
        "10000-01-01",
        "+10000-01-01T00:00:00Z",
        "-0001-01-01T00:00:00Z",
        "0000-01-01",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:00-00:01",
        "2026-03-14T09:30:00+24:00",
        "2026-03-14T09:30:00+01:60",
        "2026-03-14T09:30:00+0100",
        "2026-03-14T25:00:00Z",
        "２０２６-03-14",
        "2026-3-14",
        "1773480600",
        "yesterday",
        "",
    ],
)
def test_what_is_no_instant_is_refused_with_the_accepted_forms(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_instant(text)
    assert refused.value.code == "memcastle::input::instant"
    assert "YYYY-MM-DD" in refused.value.help


def test_idle_digits_after_the_sixth_are_allowed() -> None:
    assert parse_instant("1970-01-01T00:00:00.000001000Z") == 1


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidInput):
        assert MIN_INSTANT <= parse_instant(text) <= MAX_INSTANT


def test_a_date_alone_is_the_start_of_that_day() -> None:
    assert parse_instant("2026-05-04") == parse_instant("2026-05-04T00:00:00Z")


@given(st.dates())
def test_a_date_as_a_window_is_that_whole_day(day: object) -> None:
    start, until = day_window(str(day))
    last = parse_instant(f"{day}T23:59:59.999999Z")
    assert start == parse_instant(f"{day}T00:00:00Z")
    assert until == min(last + 1, MAX_INSTANT)


def test_only_a_date_is_a_day() -> None:
    with pytest.raises(InvalidInput, match="not a date alone"):
        day_window("2026-05-04T00:00:00Z")


@given(instants)
def test_as_of_is_a_window_of_one_microsecond(instant: int) -> None:
    point = Temporal.as_of(instant)
    assert (point.start, point.end) == (instant, instant + 1)
    assert point == Temporal.between(instant, instant + 1)
    assert point.instant == instant


@given(instants, instants)
def test_a_window_must_run_forwards(a: int, b: int) -> None:
    if a < b:
        assert not Temporal.between(a, b).is_history
    else:
        with pytest.raises(InvalidInput):
            Temporal.between(a, b)


def test_history_has_no_instant() -> None:
    assert Temporal.history().is_history
    assert Temporal.history().instant is None


@pytest.mark.parametrize(
    ("instant", "end", "state"),
    [
        (9, 20, "future"),
        (10, 20, "valid"),
        (19, 20, "valid"),
        (20, 20, "ended"),
        (10**15, None, "valid"),
        (10, 10, "empty"),
        (10, 9, "empty"),
    ],
)
def test_where_an_instant_lies_in_a_validity(instant: int, end: int | None, state: str) -> None:
    assert state_at(instant, 10, end) == state
