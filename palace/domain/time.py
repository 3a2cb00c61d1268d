"""Instants and the one temporal rule.

An instant is an ``int``: whole microseconds since 1970-01-01T00:00:00Z. Text is only its image:
RFC 3339 in, six digits and ``Z`` out, so that text order is time order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from palace.domain.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000
DAY = 86_400 * SECOND
ACCEPTED = "Write YYYY-MM-DD or an RFC 3339 instant with a zone, such as 2026-03-14T09:30:00Z."

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?([Zz]|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)


def from_datetime(moment: datetime) -> int:
    """Microseconds of an aware ``datetime``; exact, never through floats."""
    return (moment - EPOCH) // MICROSECOND


def to_datetime(instant: int) -> datetime:
    """The aware UTC ``datetime`` of an instant."""
    return EPOCH + timedelta(microseconds=instant)


MIN_INSTANT = from_datetime(datetime.min.replace(tzinfo=UTC))
MAX_INSTANT = from_datetime(datetime.max.replace(tzinfo=UTC))


def print_instant(instant: int) -> str:
    """The canonical text: ``2026-03-14T00:00:00.000000Z``, always 27 characters."""
    moment = to_datetime(instant)
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S.%f}Z"


def print_short(instant: int) -> str:
    """The shortest exact text, for URLs: a date at midnight, else RFC 3339 without idle zeros."""
    moment = to_datetime(instant)
    day = f"{moment.year:04d}-{moment:%m-%d}"
    if instant % DAY == 0:
        return day
    if instant % SECOND:
        return f"{day}T{moment:%H:%M:%S.%f}".rstrip("0") + "Z"
    return f"{day}T{moment:%H:%M}Z" if moment.second == 0 else f"{day}T{moment:%H:%M:%S}Z"


def is_date_only(text: str) -> bool:
    """Whether the text names a day without a time."""
    return _DAY.fullmatch(text.strip()) is not None


def parse_instant(text: str) -> int:
    """Read a date (midnight UTC) or an RFC 3339 instant; refuse everything else with its reason."""
    text = text.strip()
    day = _DAY.fullmatch(text)
    if day:
        return _build(text, *(int(part) for part in day.groups()))
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise _refused(text, "is not an instant")
    year, month, dayno, hour, minute, second, fraction, zone = match.groups()
    if zone is None:
        raise _refused(text, "names no zone")
    if int(hour) == 24 or int(second or 0) > 59:
        raise _refused(text, "uses 24:00 or a leap second, which this palace does not keep")
    micros = _micros(text, fraction or "")
    base = _build(text, int(year), int(month), int(dayno), int(hour), int(minute), int(second or 0))
    return _within(text, base + micros - _offset(text, zone))


def day_window(text: str) -> tuple[int, int]:
    """The day a date means as a window ``[start, next midnight)`` in UTC.

    The calendar's last day ends with its last microsecond: no later instant can be written.
    """
    if not is_date_only(text):
        raise _refused(text, "is not a date alone")
    start = parse_instant(text)
    return start, min(start + DAY, MAX_INSTANT)


def _micros(text: str, fraction: str) -> int:
    if fraction[6:].strip("0"):
        raise _refused(text, "is finer than a microsecond")
    return int(fraction[:6].ljust(6, "0"))


def _offset(text: str, zone: str) -> int:
    if zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 23 or minutes > 59:
        raise _refused(text, "has an offset beyond 23:59")
    return (hours * 60 + minutes) * 60 * SECOND * (-1 if zone[0] == "-" else 1)


def _build(text: str, *parts: int) -> int:
    try:
        return from_datetime(datetime(*parts, tzinfo=UTC))  # type: ignore[arg-type,misc]
    except ValueError:
        raise _refused(text, "is not a day of the calendar (years 0001 to 9999)") from None


def _within(text: str, instant: int) -> int:
    if not MIN_INSTANT <= instant <= MAX_INSTANT:
        raise _refused(text, "lies outside the years 0001 to 9999")
    return instant


def _refused(text: str, why: str) -> InvalidInput:
    return InvalidInput(f"“{text[:80]}” {why}.", code="memcastle::input::instant", help=ACCEPTED)


@dataclass(frozen=True)
class Temporal:
    """Which records a question is about: a window ``[start, end)`` of time, or all of history.

    ``as_of`` t is the window ``[t, t + 1 microsecond)``. ``known_at`` k narrows to what was
    recorded by k; it is independent of the window. ``start is None`` means history.
    """

    start: int | None
    end: int | None
    known_at: int | None = None

    @classmethod
    def as_of(cls, instant: int, known_at: int | None = None) -> Temporal:
        return cls(instant, instant + 1, known_at)

    @classmethod
    def between(cls, start: int, end: int, known_at: int | None = None) -> Temporal:
        if start >= end:
            raise InvalidInput(
                "“from” must lie before “until”.",
                code="memcastle::input::window",
                help="Give an earlier “from” or a later “until”.",
            )
        return cls(start, end, known_at)

    @classmethod
    def history(cls, known_at: int | None = None) -> Temporal:
        return cls(None, None, known_at)

    @property
    def is_history(self) -> bool:
        return self.start is None

    @property
    def instant(self) -> int | None:
        """The single instant asked about, or None for a window or history."""
        if self.start is not None and self.end == self.start + 1:
            return self.start
        return None

    @property
    def is_as_of(self) -> bool:
        return self.instant is not None


def state_at(instant: int, valid_from: int, valid_to: int | None) -> str:
    """Where an instant lies in ``[valid_from, valid_to)``: future, ended, empty or valid."""
    if valid_to is not None and valid_to <= valid_from:
        return "empty"
    if instant < valid_from:
        return "future"
    return "valid" if valid_to is None or instant < valid_to else "ended"
