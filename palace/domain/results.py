"""What reads answer with: hits, pages, facets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from palace.domain.errors import Notice, Unauthorized
from palace.domain.records import Drawer


class SearchMode(StrEnum):
    """How to rank. ``text`` and ``vector`` are the older names of lexical and semantic."""

    AUTO = "auto"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"

    @classmethod
    def _missing_(cls, value: object) -> SearchMode | None:
        return {"text": cls.LEXICAL, "vector": cls.SEMANTIC}.get(str(value).lower())


@dataclass(frozen=True)
class Hit:
    """A drawer verbatim, and why it is here.

    ``highlights`` are code-point offsets ``(start, end)`` into the content. ``version`` is its
    number in its line of ``versions``.
    """

    drawer: Drawer
    score: float | None = None
    signals: dict[str, dict[str, Any]] = field(default_factory=dict)
    via: tuple[dict[str, Any], ...] = ()
    highlights: tuple[tuple[int, int], ...] = ()
    version: int = 1
    versions: int = 1


@dataclass(frozen=True)
class Facet:
    """One alternative of a filter, and how many drawers it would leave."""

    value: str
    count: int
    wing: str | None = None


@dataclass(frozen=True)
class SearchResult:
    """One page of an answer. ``total`` is None where it is not counted.

    ``seam`` is how many hits of the whole answer hold all words; None when all do or none rank.
    """

    hits: tuple[Hit, ...] = ()
    ranking: str = "lexical"
    total: int | None = None
    notices: tuple[Notice, ...] = ()
    facets: dict[str, tuple[Facet, ...]] = field(default_factory=dict)
    cursor: str | None = None
    offset: int = 0
    seam: int | None = None
    timed_out: bool = False

    def told(self, *notices: Notice) -> SearchResult:
        """The same answer with further notices."""
        return replace(self, notices=self.notices + notices)


@dataclass(frozen=True)
class AuthContext:
    """Who asks, and what they may do."""

    actor: str = "anonymous"
    permissions: frozenset[str] = frozenset()

    def require(self, permission: str) -> None:
        """Raise Unauthorized unless the permission is held."""
        if permission not in self.permissions:
            raise Unauthorized(
                f"This needs the permission “{permission}”.",
                help="Sign in with an account that has it.",
            )
