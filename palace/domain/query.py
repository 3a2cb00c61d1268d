"""The scope of a question, and cursors: values that every reader takes alike."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, replace

from palace.domain.errors import InvalidInput
from palace.domain.time import Temporal

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

    def at(self, time: Temporal) -> Scope:
        return replace(self, time=time)

    @property
    def is_place_only(self) -> bool:
        """Nothing but wing, room and time is asked: what the chronology can answer."""
        return not (
            self.tags
            or self.source_kind
            or self.project
            or self.branch
            or self.path
            or self.agent
            or self.entities
            or self.stale == "only"
            or self.time.known_at is not None
        )


@dataclass(frozen=True)
class Cursor:
    """Where the next page begins: the last row's order value and id, or an offset of a ranking.

    It pins both time axes, so that pages neither repeat nor lose rows when memory changes.
    """

    order: int
    id: str = ""
    as_of: int | None = None
    known_at: int | None = None

    def encode(self) -> str:
        packed = json.dumps([self.order, self.id, self.as_of, self.known_at], separators=(",", ":"))
        return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        try:
            raw = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            order, ident, as_of, known_at = raw
        except (ValueError, TypeError, binascii.Error):
            raise _bad_cursor() from None
        whole = all(value is None or type(value) is int for value in (as_of, known_at))
        if type(order) is not int or abs(order) >= 2**62 or not isinstance(ident, str) or not whole:
            raise _bad_cursor()
        return cls(order, ident, as_of, known_at)


def _bad_cursor() -> InvalidInput:
    return InvalidInput(
        "The cursor is not one that this palace gave.",
        code="memcastle::input::cursor",
        help="Take the cursor from the answer before, or leave it out to start at the first page.",
    )
