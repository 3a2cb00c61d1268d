from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.records import Drawer
from palace.domain.time import DAY
from palace.render.strip import MOST_BARS, strip


def version(number: int, start: int, end: int | None) -> Drawer:
    return Drawer(f"d{number}", "w", "r", "", "", start, start, valid_to=end)


def chain(*starts: int) -> list[Drawer]:
    ends = [*starts[1:], None]
    return [version(i, a, b) for i, (a, b) in enumerate(zip(starts, ends, strict=True))]


def test_bars_are_to_scale() -> None:
    drawn = strip(chain(0, 100 * DAY, 300 * DAY), "d1", 150 * DAY, 400 * DAY)
    first, second, third = (bar.width for bar in drawn.bars)
    assert second / first == pytest.approx(2, rel=0.02)
    assert third == pytest.approx(first, rel=0.02)
    assert not drawn.stretched


def test_the_pin_lies_in_the_bar_of_its_instant() -> None:
    drawn = strip(chain(0, 100 * DAY, 300 * DAY), "d1", 200 * DAY, 400 * DAY)
    bar = drawn.bars[1]
    assert drawn.pin == pytest.approx(bar.x + bar.width / 2, abs=0.3)
    assert drawn.pin_words == "20 Jul 1970"


def test_an_instant_off_the_line_has_no_pin() -> None:
    assert strip(chain(100, 200), "d0", 50, 400).pin is None
    assert strip(chain(100, 200), "d0", None, 400).pin is None


def test_kinds_say_more_than_colours() -> None:
    versions = [version(0, 0, 100), version(1, 100, None), version(2, 900, None)]
    kinds = [bar.kind for bar in strip(versions, "d1", 500, 500).bars]
    assert kinds == ["old", "now here", "future"]


def test_short_periods_are_widened_and_told() -> None:
    drawn = strip(chain(0, 1, 400 * DAY), "d0", 0, 800 * DAY)
    assert drawn.stretched
    assert min(bar.width for bar in drawn.bars) > 3


def test_overlapping_versions_take_lanes_of_their_own() -> None:
    versions = [version(0, 0, 300), version(1, 100, 400), version(2, 300, None)]
    assert [bar.y for bar in strip(versions, "d0", 0, 500).bars] == [20, 50, 20]


def test_a_long_chain_is_drawn_around_the_version_shown() -> None:
    drawn = strip(chain(*range(0, 4000, 10)), "d200", 0, 5000)
    assert (drawn.first, drawn.last, drawn.total) == (171, 230, 400)
    assert len(drawn.bars) == MOST_BARS


def test_dates_do_not_run_into_each_other() -> None:
    marks = strip(chain(*(day * DAY for day in range(0, 100, 5))), "d0", 0, 120 * DAY).marks
    assert 1 < len(marks) <= 4


@given(
    st.lists(st.integers(0, 10**15), min_size=1, max_size=30, unique=True), st.integers(0, 10**15)
)
def test_the_line_keeps_order_and_stays_within(starts: list[int], now: int) -> None:
    drawn = strip(chain(*sorted(starts)), "d0", now, now)
    assert all(bar.x >= 0 and bar.x + bar.width <= 101 for bar in drawn.bars)
    assert all(a.x <= b.x for a, b in pairwise(drawn.bars))
