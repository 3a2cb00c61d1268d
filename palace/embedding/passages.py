"""Cuts a drawer's text into passages of whole sentences and lines, told as offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palace.domain.errors import InvalidInput
from palace.embedding.provider import MAX_CHARS

Span = tuple[int, int]

# Where a sentence or line ends. Scripts without spaces need none after their full stop. A run
# of dots is tried from its beginning only, so that a million of them cost a million steps.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？]+[」』”’）]*|[\r\n\u2028\u2029]+")
# A line without any sentence is cut into pieces no smaller than this.
_LEAST_PIECE = 50


def split(
    text: str, *, chars: int = 1_000, overlap: int = 100, most: int = MAX_CHARS
) -> list[Span]:
    """The passages of a text, as ``(start, end)`` in code points.

    Each is at most ``chars`` long (never more than ``most``, what a provider takes) and begins
    and ends with something that is not blank; together they hold all that is not blank. What
    two neighbours share is at most ``overlap``. A short text is one passage, a blank one none.
    """
    chars = min(chars, most)
    if chars < 1 or overlap < 0:
        raise InvalidInput("A passage has at least one character, and an overlap is not negative.")
    overlap = min(overlap, chars // 2)
    piece = min(chars, max(overlap, _LEAST_PIECE))
    units = list(_units(text, chars, piece))
    return list(_packed(units, chars, overlap))


def whole(text: str, *, most: int = MAX_CHARS) -> list[Span]:
    """One passage: the text's first ``most`` characters, from its first that is not blank."""
    blank = len(text) - len(text.lstrip())
    if blank == len(text):
        return []
    start = 0 if blank < most else blank
    return [(start, min(len(text), start + most))]


def _units(text: str, chars: int, piece: int) -> Iterator[Span]:
    """Sentences and lines without the blanks around them; giant ones in pieces."""
    for start, end in _sentences(text):
        span = _stripped(text, start, end)
        if span is None:
            continue
        if span[1] - span[0] <= chars:
            yield span
        else:
            yield from _pieces(text, span, piece)


def _sentences(text: str) -> Iterator[Span]:
    start = 0
    for match in _END.finditer(text):
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _stripped(text: str, start: int, end: int) -> Span | None:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    right = len(part.rstrip())
    return (start + left, start + right) if left < right else None


def _pieces(text: str, span: Span, piece: int) -> Iterator[Span]:
    """A giant line cut at its blanks, or anywhere when it has none in reach."""
    start, end = span
    while start < end:
        stop = min(end, start + piece)
        if stop < end:
            blank = max(text.rfind(" ", start + 1, stop + 1), text.rfind("\t", start + 1, stop + 1))
            stop = blank if blank > start else stop
        cut = _stripped(text, start, stop)
        if cut is not None:
            yield cut
        start = stop


def _packed(units: list[Span], chars: int, overlap: int) -> Iterator[Span]:
    """As many units in a passage as fit; the next one begins with the last of them again."""
    first = 0
    while first < len(units):
        start = units[first][0]
        after = first + 1
        while after < len(units) and units[after][1] - start <= chars:
            after += 1
        yield start, units[after - 1][1]
        if after == len(units):
            return
        first = _begin_of_next(units, first, after, chars, overlap)


def _begin_of_next(units: list[Span], first: int, after: int, chars: int, overlap: int) -> int:
    """The earliest unit within the overlap from which the next, unseen unit still fits."""
    begin = after
    while (
        begin - 1 > first
        and units[after - 1][1] - units[begin - 1][0] <= overlap
        and units[after][1] - units[begin - 1][0] <= chars
    ):
        begin -= 1
    return begin
