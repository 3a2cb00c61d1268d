"""The chain strip: all versions of one piece of knowledge on a line of time, drawn to scale.

Places are percentages of the width, so that the bars stretch with the page and the words do not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from palace.domain.records import Drawer
from palace.domain.time import to_datetime

MOST_BARS = 60
LANE, TOP, BAR = 30, 20, 24  # pixels: from lane to lane, above the first one, of a bar
_INSET, _ROOM = 0.3, 99.4  # percent: free at both ends, and between them
_GAP = 0.15  # percent between neighbours
_WORDS = 22.0  # percent that a date takes on the narrowest page


@dataclass(frozen=True)
class Bar:
    """One version. ``x`` and ``width`` in percent, ``y`` in pixels."""

    id: str
    number: int
    x: float
    width: float
    y: int
    valid_from: int
    valid_to: int | None
    kind: str  # here, now, old, future: the class, and what the words say
    label: str


@dataclass(frozen=True)
class Mark:
    """A date under the line, anchored so that it stays within."""

    x: float
    words: str
    anchor: str


@dataclass(frozen=True)
class Strip:
    """What the SVG draws. ``pin`` is where the asked instant lies, if it lies on the line."""

    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    pin: float | None
    pin_words: str
    pin_anchor: str
    height: int
    stretched: bool
    first: int
    last: int
    total: int

    @property
    def marks_y(self) -> int:
        return self.height - 4

    @property
    def pin_bottom(self) -> int:
        return self.height - 20


def strip(versions: Sequence[Drawer], here: str | None, at: int | None, now: int) -> Strip:
    """Lay out versions (oldest first) around the one shown, at most 60 of them.

    ``at`` is the asked instant (None when there is no single one).
    """
    first, shown = _around(versions, here)
    line = _Line.over(shown, now)
    bars: list[Bar] = []
    lanes: list[int] = []
    for place, version in enumerate(shown):
        lane = _lane(lanes, version.valid_from, _until(version, now))
        bars.append(_bar(version, first + place + 1, lane, line, at, now, here))
    height = TOP + LANE * max(1, len(lanes)) + 18
    pin = line.x(at) if at is not None and line.edges[0] <= at <= line.edges[-1] else None
    return Strip(
        bars=tuple(bars),
        marks=_marks(bars),
        pin=pin,
        pin_words="" if at is None else "now" if at == now else _day(at),
        pin_anchor=_anchor(pin or 0.0),
        height=height,
        stretched=line.stretched,
        first=first + 1,
        last=first + len(shown),
        total=len(versions),
    )


def _around(versions: Sequence[Drawer], here: str | None) -> tuple[int, Sequence[Drawer]]:
    place = next((i for i, one in enumerate(versions) if one.id == here), len(versions) - 1)
    first = max(0, min(place - MOST_BARS // 2, len(versions) - MOST_BARS))
    return first, versions[first : first + MOST_BARS]


def _until(version: Drawer, now: int) -> int:
    """Where a bar ends: an open one at now; one that has no length gets the smallest."""
    end = now if version.valid_to is None else version.valid_to
    return max(end, version.valid_from + 1)


def _bar(
    version: Drawer, number: int, lane: int, line: _Line, at: int | None, now: int, here: str | None
) -> Bar:
    left, right = line.x(version.valid_from), line.x(_until(version, now))
    width = max(0.4, right - left - _GAP)
    kind = _kind(version, now)
    label = f"v{number}" if width > 6 else ""
    if width > _WORDS:
        label += {"now": " · true now", "future": " · not yet begun"}.get(kind, "")
    if version.id == here:
        kind += " here"
    return Bar(
        version.id, number, left, width, TOP + lane * LANE, version.valid_from,
        version.valid_to, kind, label,
    )  # fmt: skip


def _kind(version: Drawer, now: int) -> str:
    if version.valid_from > now:
        return "future"
    return "now" if version.valid_to is None or version.valid_to > now else "old"


def _lane(lanes: list[int], start: int, end: int) -> int:
    """The first lane that is free at ``start``; imports may bring versions that overlap."""
    for place, busy_until in enumerate(lanes):
        if busy_until <= start:
            lanes[place] = end
            return place
    lanes.append(end)
    return len(lanes) - 1


def _marks(bars: Sequence[Bar]) -> tuple[Mark, ...]:
    """The beginnings, as many as fit beside each other on the narrowest page."""
    marks: list[Mark] = []
    free = 0.0
    for bar in bars:
        anchor = _anchor(bar.x)
        left = bar.x - (_WORDS if anchor == "end" else 0)
        if left >= free:
            marks.append(Mark(bar.x, _day(bar.valid_from), anchor))
            free = left + _WORDS
    return tuple(marks)


def _day(instant: int) -> str:
    moment = to_datetime(instant)
    return f"{moment.day} {moment:%b} {moment.year}"


def _anchor(x: float) -> str:
    """Words begin at their place; near the end of the line they stop there."""
    return "end" if x > 100 - _WORDS else "start"


@dataclass(frozen=True)
class _Line:
    """From instants to percent: to scale, but no period so short that it cannot be seen."""

    edges: tuple[int, ...]
    places: tuple[float, ...]
    stretched: bool

    @classmethod
    def over(cls, versions: Sequence[Drawer], now: int) -> _Line:
        times = {time for one in versions for time in (one.valid_from, _until(one, now))}
        edges = tuple(sorted(times | {now}))
        spans = [after - before for before, after in pairwise(edges)]
        least = min(4.0, _ROOM / 2 / max(1, len(spans)))
        widths, stretched = _widths(spans, least)
        places = [_INSET]
        for width in widths:
            places.append(places[-1] + width)
        return cls(edges, tuple(places), stretched)

    def x(self, instant: int) -> float:
        place = min(bisect_right(self.edges, instant), len(self.edges) - 1) - 1
        start, end = self.edges[place], self.edges[place + 1]
        left, right = self.places[place], self.places[place + 1]
        return round(left + (right - left) * (instant - start) / (end - start), 2)


def _widths(spans: Sequence[int], least: float) -> tuple[list[float], bool]:
    """Shares of the line: at least ``least`` each, the rest in proportion."""
    floored: set[int] = set()
    while True:
        rest = sum(span for place, span in enumerate(spans) if place not in floored) or 1
        room = _ROOM - least * len(floored)
        widths = [
            least if place in floored else room * span / rest for place, span in enumerate(spans)
        ]
        short = {place for place, width in enumerate(widths) if width < least} - floored
        if not short:
            return widths, bool(floored)
        floored |= short
