"""The time bar as a template needs it: stops, bars, steps, presets, words."""

from __future__ import annotations

from calendar import monthrange
from typing import Any

from palace.domain.query import Scope
from palace.domain.time import (
    DAY,
    MIN_INSTANT,
    SECOND,
    Temporal,
    from_datetime,
    print_instant,
    print_short,
    to_datetime,
)
from palace.domain.timebar import Bucket, TimeBar, time_bar
from palace.params import Asked
from palace.recall import RecallService

AXIS = 20.0  # height of the part above the axis, in the picture's own units
BELOW = 9.0
_PRESETS = (("1 day", DAY, 0), ("1 week", 7 * DAY, 0), ("1 month", 0, 1), ("1 year", 0, 12))


def describe(reads: RecallService, asked: Asked, scope: Scope, path: str) -> dict[str, Any]:
    """Everything the bar's template shows for a scope at the asked time."""
    now = asked.now
    changes = reads.changes(scope)
    time = asked.scope.time
    bar = time_bar(changes.began, changes.ended, now)
    at = time.instant if time.instant is not None else now
    place = bar.position(at)
    return {
        "path": path,
        "hidden": [(name, one) for name, one in asked.pairs() if name not in _TIMES]
        + [(name, one) for name, one in asked.time_given if name == "known_at"],
        "min": bar.buckets[0].start // SECOND,
        "max": bar.buckets[-1].start // SECOND,
        "step": bar.step // SECOND,
        "value": bar.buckets[place].start // SECOND if asked.time_given else _last(bar),
        "width": len(bar.buckets),
        "paths": drawn(bar.buckets, place if time.instant is not None else len(bar.buckets)),
        "unit": bar.unit,
        "labels": _labels(bar),
        "is_future": at > now,
        "count": reads.count(scope),
        "first": changes.first,
        "to_first": _link(asked, changes.first),
        "began_before": changes.first is not None and changes.first <= at,
        "previous": _link(asked, changes.previous(at)),
        "next": _link(asked, changes.next(at)),
        "presets": _presets(asked, at, changes.first),
        "words": when_words(time, now),
        "machine": print_instant(at),
        "exact": dict(asked.time_given),
        "known": dict(asked.time_given).get("known_at"),
        "now": address(path, asked.query(as_of=None)),
        "history": address(path, asked.query(history="1")),
        "is_history": time.is_history,
        "is_window": not time.is_history and not time.is_as_of,
        "is_now": not asked.time_given,
    }


_TIMES = frozenset(("as_of", "from", "until", "history", "known_at"))


def address(path: str, query: str) -> str:
    """A page's address; without a question mark that nothing follows."""
    return f"{path}?{query}" if query else path


def when_words(time: Temporal, now: int) -> tuple[str, str]:
    """What is looked at, in two parts: `14 March 2026`, `00:00 UTC`."""
    if time.is_history:
        return "All history", "every version, UTC"
    if time.instant is None and time.start is not None and time.end is not None:
        return f"{_day(time.start)} – {_day(time.end)}", "between, end excluded, UTC"
    at = time.instant if time.instant is not None else now
    moment = to_datetime(at)
    clock = f"{moment:%H:%M:%S.%f}" if at % SECOND else f"{moment:%H:%M:%S}"
    if at == now:
        return "Now", f"{_day(now)}, {moment:%H:%M} UTC"
    return f"{moment.day} {moment:%B} {moment.year}", f"{clock.removesuffix(':00')} UTC"


def _day(instant: int) -> str:
    moment = to_datetime(instant)
    return f"{moment.day} {moment:%b} {moment.year}"


def _last(bar: TimeBar) -> int:
    return bar.buckets[-1].start // SECOND


def drawn(buckets: tuple[Bucket, ...], place: int) -> dict[str, str]:
    """Four paths: what began (up) and ended (down), until the place looked at and after it.

    Heights go by the square root of the numbers, so that a burst does not flatten the rest.
    """
    most = max((max(one.began, one.ended) for one in buckets), default=0) or 1
    paths: dict[str, list[str]] = {"up": [], "up after": [], "down": [], "down after": []}
    for number, one in enumerate(buckets):
        after = " after" if number > place else ""
        up = round((one.began / most) ** 0.5 * (AXIS - 1), 1)
        down = round((one.ended / most) ** 0.5 * BELOW, 1)
        if up:
            paths["up" + after].append(f"M{number} {AXIS:g}v-{up:g}h.82v{up:g}z")
        if down:
            paths["down" + after].append(f"M{number} 20.6v{down:g}h.82v-{down:g}z")
    return {name: "".join(parts) for name, parts in paths.items() if parts}


def _labels(bar: TimeBar) -> list[str]:
    """About five dates under the range, the last one "now"."""
    number = len(bar.buckets)
    places = sorted({round(part * (number - 1) / 4) for part in range(4)}) if number > 4 else [0]
    short = bar.step < DAY
    texts = []
    for place in places:
        moment = to_datetime(bar.buckets[place].start)
        texts.append(f"{moment:%H:%M}" if short and number < 48 else _label(bar, moment))
    return [*dict.fromkeys(texts), "now"]


def _label(bar: TimeBar, moment: Any) -> str:
    spans_years = bar.step * len(bar.buckets) > 200 * DAY
    return f"{moment:%b} {moment.year}" if spans_years else f"{moment.day} {moment:%b}"


def _link(asked: Asked, instant: int | None) -> str | None:
    return None if instant is None else "?" + asked.query(as_of=print_short(instant))


def _presets(asked: Asked, at: int, first: int | None) -> list[tuple[str, str]]:
    """Steps back from the instant looked at, and the first memory."""
    found = [
        (f"−{words}", "?" + asked.query(as_of=print_short(earlier(at, span, months))))
        for words, span, months in _PRESETS
    ]
    if first is not None:
        found.append(("First memory", "?" + asked.query(as_of=print_short(first))))
    return found


def earlier(at: int, span: int, months: int) -> int:
    """An instant a span and some calendar months before; the last day of a shorter month."""
    moment = to_datetime(max(at - span, MIN_INSTANT))
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    if year < 1:
        return MIN_INSTANT
    day = min(moment.day, monthrange(year, month + 1)[1])
    return from_datetime(moment.replace(year=year, month=month + 1, day=day))
