"""The part of a text that shows why it was found, cut into marked and plain pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from palace.domain.records import Drawer, title_and_end
from palace.domain.results import Hit
from palace.domain.time import Temporal
from palace.render.validity import Standing, Validity, validity

LENGTH = 300
_SYNTAX = re.compile(
    r"^\s*(?:#{1,6}|>+|[-*+]|\d+\.)\s+|^\s*(?:```|~~~).*$|\*\*|__|`"
    r"|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)",
    re.MULTILINE,
)
_TABLE = re.compile(r"^[ \t|:-]+$|[ \t]*\|[ \t]*", re.MULTILINE)
_BLANKS = re.compile(r"\s+")
Span = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A run of text, marked or not. The template escapes it."""

    text: str
    is_mark: bool = False


@dataclass(frozen=True)
class Leg:
    """What one leg of the ranking says: its rank, and a share of a bar."""

    name: str
    words: str
    rank: int
    share: int


@dataclass(frozen=True)
class Row:
    """One line of a list: a hit with its title, snippet and standing in time."""

    hit: Hit
    drawer: Drawer
    title: str
    snippet: tuple[Piece, ...]
    standing: Validity
    legs: tuple[Leg, ...] = ()

    @property
    def is_retired(self) -> bool:
        """Not true at the asked time, and never again."""
        return self.standing.standing in (Standing.REPLACED, Standing.ENDED, Standing.EMPTY)


def rows(hits: Sequence[Hit], time: Temporal, now: int) -> list[Row]:
    """Hits as lists show them."""
    best = max((hit.signals.get("lexical", {}).get("score") or 0 for hit in hits), default=0)
    return [
        Row(
            hit,
            hit.drawer,
            hit.drawer.title,
            snippet(hit.drawer.content, hit.highlights or _passage(hit)),
            validity(hit.drawer, time, now),
            _legs(hit, best),
        )
        for hit in hits
    ]


def _legs(hit: Hit, best: float) -> tuple[Leg, ...]:
    """Words against the best of the page, meaning by its cosine."""
    legs = []
    lexical, semantic = hit.signals.get("lexical"), hit.signals.get("semantic")
    if lexical:
        share = round(100 * (lexical["score"] or 0) / best) if best else 0
        legs.append(Leg("lex", "words", lexical["rank"], share))
    if semantic:
        share = round(100 * max(0.0, semantic["similarity"]))
        legs.append(Leg("sem", "meaning", semantic["rank"], share))
    return tuple(legs)


def _passage(hit: Hit) -> tuple[Span, ...]:
    """Where the passage begins that the drawer counts by; nothing of it is marked."""
    found = hit.signals.get("semantic", {}).get("passage")
    return ((found["start"], found["start"]),) if found and found["start"] else ()


def snippet(content: str, marks: Sequence[Span], length: int = LENGTH) -> tuple[Piece, ...]:
    """About ``length`` characters around the densest marks (else the beginning after the title)."""
    start = _start(content, marks, length)
    end = min(len(content), start + length)
    end = _word_end(content, end)
    inside = [(max(a, start), min(b, end)) for a, b in marks if a < end and b > start]
    pieces = [Piece("… ")] if start > _after_title(content) else []
    at = start
    for a, b in inside:
        pieces += [Piece(_plain(content[at:a])), Piece(content[a:b], is_mark=True)]
        at = b
    pieces.append(Piece(_plain(content[at:end])))
    if content[end:].strip():
        pieces.append(Piece("…"))
    return tuple(piece for piece in pieces if piece.text)


def _start(content: str, marks: Sequence[Span], length: int) -> int:
    after = _after_title(content)
    beyond = [mark for mark in marks if mark[0] >= after]
    if not beyond:
        return after
    best = max(beyond, key=lambda one: (_density(beyond, one[0], length), -one[0]))
    wanted = best[0] - length // 4
    return after if wanted <= after + length // 4 else _word_start(content, wanted)


def _after_title(content: str) -> int:
    """Where the text goes on after what serves as its title; the beginning if nothing follows."""
    after = _skip(content, title_and_end(content)[1])
    return after if content[after:].strip() else 0


def _density(marks: Sequence[Span], start: int, length: int) -> int:
    return sum(1 for a, b in marks if start <= a and b <= start + length * 3 // 4)


def _skip(content: str, at: int) -> int:
    while at < len(content) and not content[at].isalnum():
        at += 1
    return at


def _word_start(content: str, at: int) -> int:
    found = content.rfind(" ", max(0, at - 20), at)
    line = content.rfind("\n", max(0, at - 20), at)
    return max(found, line) + 1 if max(found, line) >= 0 else at


def _word_end(content: str, at: int) -> int:
    found = content.find(" ", at, at + 20)
    return found if found >= 0 and at < len(content) else at


def _plain(text: str) -> str:
    """Without Markdown's own signs and with single blanks: a snippet is one paragraph."""
    return _BLANKS.sub(" ", _TABLE.sub(" ", _SYNTAX.sub("", text)))
