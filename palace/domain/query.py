"""The scope of a question, and cursors: values that every reader takes alike."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field, replace

from palace.domain.errors import InvalidInput
from palace.domain.time import MAX_INSTANT, MIN_INSTANT, Temporal

STALE_CHOICES = ("hide", "include", "only")
MAX_LIMIT = 200
DEFAULT_LIMIT = 10
MAX_QUERY_BYTES = 10_000


@dataclass(frozen=True)
class Scope:
    """Where and when to look. Every clause given must hold; ``tags`` means all of them.

    ``entities`` are names (exact or alias, folded of case); ``entity_match`` any or all.
    """

    time: Temporal
    wing: str | None = None
    room: str | None = None
    tags: tuple[str, ...] = ()
    source_kind: str | None = None
    project: str | None = None
    branch: str | None = None
    path: str | None = None
    agent: str | None = None
    stale: str = "hide"
    entities: tuple[str, ...] = ()
    entity_match: str = "all"
    asked_at: int | None = field(default=None, compare=False)  # the request's clock; pins pages

    def at(self, time: Temporal) -> Scope:
        return replace(self, time=time)

    @property
    def is_countable(self) -> bool:
        """The chronology can answer: nothing is asked that it does not keep."""
        finer = self.path or self.agent or self.entities
        return not finer and self.time.known_at is None

    @property
    def is_whole(self) -> bool:
        """No clause but time: the whole palace."""
        return self == Scope(self.time, stale="include")


@dataclass(frozen=True)
class Cursor:
    """Where the next page begins: the last row's order value and id, or an offset of a ranking.

    It pins both time axes, so that pages neither repeat nor lose rows when memory changes.
    ``offset`` counts the rows before the page, ``total`` those of the whole answer.
    """

    order: int
    id: str = ""
    as_of: int | None = None
    known_at: int | None = None
    offset: int = 0
    total: int | None = None

    def encode(self) -> str:
        parts = [self.order, self.id, self.as_of, self.known_at, self.offset, self.total]
        packed = json.dumps(parts, separators=(",", ":"))
        return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        try:
            raw = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            order, ident, as_of, known_at, offset, total = raw
        except (ValueError, TypeError, RecursionError, binascii.Error):
            raise _bad_cursor() from None
        needed, optional = (order, offset), (as_of, known_at, total)
        if not isinstance(ident, str) or not all(_is_whole(value) for value in needed):
            raise _bad_cursor()
        if not all(value is None or _is_whole(value) for value in optional) or offset < 0:
            raise _bad_cursor()
        return cls(order, ident, as_of, known_at, offset, total)


def _is_whole(value: object) -> bool:
    return type(value) is int and MIN_INSTANT <= value <= MAX_INSTANT


def _bad_cursor() -> InvalidInput:
    return InvalidInput(
        "The cursor is not one that this palace gave.",
        code="memcastle::input::cursor",
        help="Take the cursor from the answer before, or leave it out to start at the first page.",
    )
