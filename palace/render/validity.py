"""Where a drawer stands in time, decided once, so that words, badge and banner agree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from palace.domain.records import Drawer
from palace.domain.time import DAY, SECOND, Temporal, state_at

MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
_UNITS = (
    (365 * DAY, "year"),
    (30 * DAY, "month"),
    (DAY, "day"),
    (HOUR, "hour"),
    (MINUTE, "minute"),
)


class Standing(StrEnum):
    """What a drawer is at the time asked."""

    UNKNOWN = "unknown"  # not recorded yet at the asked "known at"
    EMPTY = "empty"  # its end is not after its beginning: never true
    FUTURE = "future"
    TRUE = "true"
    REPLACED = "replaced"
    ENDED = "ended"
    OUTSIDE = "outside"  # not true in any part of the window asked


_BADGES = {
    Standing.UNKNOWN: ("future", "not yet known"),
    Standing.EMPTY: ("ended", "never true"),
    Standing.FUTURE: ("future", "not yet begun"),
    Standing.REPLACED: ("old", "replaced"),
    Standing.ENDED: ("ended", "ended"),
    Standing.OUTSIDE: ("old", "not true in this period"),
}


@dataclass(frozen=True)
class Validity:
    """The standing of a drawer at ``at`` (the asked instant; now for all history).

    ``end`` is its end as far as it was known. ``closes_later``: true at ``at``, but its end is
    known. ``end_unknown``: an end is recorded that was not known yet. ``past``: what was asked is
    not the present.
    """

    standing: Standing
    at: int
    past: bool
    window: bool
    known_at: int | None
    end: int | None
    closes_later: bool
    end_unknown: bool
    end_is_ahead: bool
    replaced: bool
    still: bool

    @property
    def is_current(self) -> bool:
        """True now, with no end in sight and nothing that replaced it."""
        calm = not (self.closes_later or self.end_unknown or self.replaced)
        return self.standing is Standing.TRUE and calm and not self.past

    @property
    def badge(self) -> tuple[str, str]:
        """The class and the words of its badge."""
        if self.standing in _BADGES:
            return _BADGES[self.standing]
        if self.replaced and self.end is None and not self.past:
            return ("old", "marked as replaced")
        then = "in this period" if self.window else "then"
        if self.still:
            return ("now", f"true {then} and now")
        return ("old", f"true {then}") if self.past else ("now", "true now")


def validity(drawer: Drawer, time: Temporal, now: int) -> Validity:
    """Decide the standing of a drawer at a time, with ``now`` as the request's clock."""
    at = time.instant if time.instant is not None else now
    window = not (time.is_as_of or time.is_history)
    end = drawer.known_end(time.known_at)
    standing = _standing(drawer, time, at, end)
    past = window or at != now or time.known_at is not None
    open_now = drawer.valid_from <= now and drawer.valid_to is None and not drawer.superseded_by
    return Validity(
        standing=standing,
        at=at,
        past=past,
        window=window,
        known_at=time.known_at,
        end=end,
        closes_later=standing is Standing.TRUE and end is not None,
        end_unknown=end is None and drawer.valid_to is not None,
        end_is_ahead=end is not None and end > now,
        replaced=bool(drawer.superseded_by),
        still=past and open_now and standing is Standing.TRUE,
    )


def _standing(drawer: Drawer, time: Temporal, at: int, end: int | None) -> Standing:
    if time.known_at is not None and drawer.created_at > time.known_at:
        return Standing.UNKNOWN
    if time.start is not None and time.end is not None and not time.is_as_of:
        return _in_window(drawer.valid_from, end, time.start, time.end)
    state = state_at(at, drawer.valid_from, end)
    if state == "ended":
        return Standing.REPLACED if drawer.superseded_by else Standing.ENDED
    return {"empty": Standing.EMPTY, "future": Standing.FUTURE, "valid": Standing.TRUE}[state]


def _in_window(begin: int, end: int | None, start: int, until: int) -> Standing:
    if end is not None and end <= begin:
        return Standing.EMPTY
    overlaps = begin < until and (end is None or end > start)
    return Standing.TRUE if overlaps else Standing.OUTSIDE


def span_words(span: int) -> str:
    """A length of time in one rounded unit: `3 days`, `1 year`; under a minute, the seconds."""
    size, unit = next(((size, unit) for size, unit in _UNITS if span >= size), (SECOND, "second"))
    number = span // size
    if number == 0:
        return "less than a second"
    return f"{number:,} {unit}" + ("" if number == 1 else "s")


def lag_words(happened: int, recorded: int) -> str | None:
    """How much later (or earlier) something was recorded; None within a minute."""
    lag = recorded - happened
    if abs(lag) < MINUTE:
        return None
    return f"{span_words(abs(lag))} {'later' if lag > 0 else 'ahead'}"
