"""The time bar: equal buckets over the life of a scope, at most 200, the last one "now"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from palace.domain.time import DAY, MIN_INSTANT, SECOND

MOST_STOPS = 200
_HOUR = 3600 * SECOND
_STEPS = (
    60 * SECOND,
    600 * SECOND,
    _HOUR,
    6 * _HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
    28 * DAY,
    91 * DAY,
    182 * DAY,
    365 * DAY,
)
_UNITS = {
    60 * SECOND: "minute",
    600 * SECOND: "ten minutes",
    _HOUR: "hour",
    6 * _HOUR: "six hours",
    DAY: "day",
    2 * DAY: "two days",
    7 * DAY: "week",
    14 * DAY: "two weeks",
    28 * DAY: "four weeks",
    91 * DAY: "quarter",
    182 * DAY: "half year",
    365 * DAY: "year",
}
_MONDAY = 4 * DAY  # 5 January 1970 was a Monday; weeks begin there


@dataclass(frozen=True)
class Bucket:
    """``[start, until)``: what began and ended in it, and how many were valid at its start."""

    start: int
    until: int
    began: int
    ended: int
    valid: int


@dataclass(frozen=True)
class TimeBar:
    """Buckets from the first memory to now; ``step`` in microseconds."""

    step: int
    buckets: tuple[Bucket, ...]
    first: int | None
    last: int | None

    @property
    def unit(self) -> str:
        return _UNITS.get(self.step, f"{self.step // (365 * DAY)} years")

    def position(self, instant: int) -> int:
        """The index of the bucket an instant lies in, clamped to the ends."""
        offset = (instant - self.buckets[0].start) // self.step
        return max(0, min(len(self.buckets) - 1, offset))


def choose_step(span: int) -> int:
    """The finest step that covers a span (microseconds) in 200 buckets."""
    for step in _STEPS:
        if span < (MOST_STOPS - 1) * step:
            return step
    years = 365 * DAY
    return years * (span // ((MOST_STOPS - 1) * years) + 1)


def time_bar(
    began: NDArray[np.int64], ended: NDArray[np.int64], now: int, step: int | None = None
) -> TimeBar:
    """Cut the change points of a scope into buckets that end with the one "now" lies in.

    What begins after now has no bucket: the bar ends at now.
    """
    first = int(began[0]) if len(began) else None
    start_at = min(first if first is not None else now, now)
    step = step or choose_step(now - start_at)
    base = _MONDAY if step % (7 * DAY) == 0 else 0
    # Wide buckets would begin before the calendar does, at no instant that can be written.
    start = max((start_at - base) // step * step + base, MIN_INSTANT)
    number = (now - start) // step + 1
    edges = start + step * np.arange(number + 1, dtype=np.int64)
    starts = np.searchsorted(began, edges, "left")
    ends = np.searchsorted(ended, edges, "left")
    valid = np.searchsorted(began, edges, "right") - np.searchsorted(ended, edges, "right")
    buckets = tuple(
        Bucket(*(int(part) for part in parts))
        for parts in zip(
            edges[:-1], edges[1:], np.diff(starts), np.diff(ends), valid[:-1], strict=True
        )
    )
    everything = [int(part[-1]) for part in (began, ended) if len(part)]
    return TimeBar(step, buckets, first, max(everything, default=None))
