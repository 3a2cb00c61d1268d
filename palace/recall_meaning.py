"""Search by meaning and by both: legs, fusion, promises and degradation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from palace.domain.embedding import Vector
from palace.domain.errors import Notice
from palace.domain.query import Cursor, Scope
from palace.domain.results import Hit, SearchResult
from palace.recall_deadline import Deadline
from palace.recall_paging import first_cursor, pinned
from palace.store import drawers, history, vectors
from palace.store.connection import Store
from palace.store.search import Match
from palace.store.vectors import Near, Question

POOL = 400  # of each leg, whatever the limit: else the page would change with it
RRF_BEST = 61.0  # 1 / (60 + 1), turned over: what a first place in one leg is worth

Lexical = Callable[[Scope], tuple[list[Match], tuple[Notice, ...]]]


@dataclass(frozen=True)
class Meaning:
    """A query as a vector, and the model it is of."""

    vector: Vector
    model: str


@dataclass(frozen=True)
class MeaningSearch:
    """The semantic and the hybrid ranking over one store."""

    store: Store
    max_mb: int = 4096
    use_chronology: bool = True

    def semantic(
        self, meaning: Meaning, filter: Scope, limit: int, cursor: Cursor | None, deadline: Deadline
    ) -> SearchResult:
        """Nearest first; pages end with the pool."""
        pool = self._pool(meaning, pinned(filter, cursor), deadline)
        ranked = [(near.id, near.similarity) for near in pool]
        return self._page(ranked, "semantic", filter, limit, cursor, _Legs({}, pool))

    def hybrid(
        self,
        meaning: Meaning,
        lexical: Lexical,
        filter: Scope,
        limit: int,
        cursor: Cursor | None,
        deadline: Deadline,
    ) -> SearchResult:
        """Reciprocal rank fusion of words and meaning."""
        scope = pinned(filter, cursor)
        matches, told = lexical(scope)
        matches = matches[:POOL]
        if matches and not any(one.score for one in matches):
            told += (_UNRANKED,)
            matches = []
        pool = self._pool(meaning, scope, deadline)
        ranked = vectors.fuse(self.store, [one.id for one in matches], [one.id for one in pool])
        words = {one.id: (place, one.score) for place, one in enumerate(matches, 1)}
        return self._page(ranked, "hybrid", filter, limit, cursor, _Legs(words, pool)).told(*told)

    def _pool(self, meaning: Meaning, scope: Scope, deadline: Deadline) -> list[Near]:
        question = Question(meaning.vector, meaning.model, POOL, self.max_mb, self.use_chronology)
        return vectors.nearest(self.store, scope, question, deadline.left)

    def _page(
        self,
        ranked: list[tuple[str, float]],
        ranking: str,
        filter: Scope,
        limit: int,
        cursor: Cursor | None,
        legs: _Legs,
    ) -> SearchResult:
        start = max(0, cursor.order) if cursor else 0
        page = ranked[start : start + limit]
        after = start + limit
        return SearchResult(
            hits=self._hits(page, ranking, legs),
            ranking=ranking,
            total=None,
            cursor=_cursor(filter, cursor, after, len(ranked)),
            offset=start,
            notices=(_POOL_ENDS,) if after >= len(ranked) and len(ranked) >= POOL else (),
        )

    def _hits(self, page: list[tuple[str, float]], ranking: str, legs: _Legs) -> tuple[Hit, ...]:
        scores = dict(page)
        found = drawers.get_many(self.store, [ident for ident, _ in page])
        linked = [one.id for one in found if one.supersedes or one.superseded_by]
        numbers = history.places_in_chain(self.store, linked)
        return tuple(
            Hit(
                one,
                scores[one.id],
                legs.signals(one.id, scores[one.id] if ranking == "hybrid" else None),
                version=numbers.get(one.id, (1, 1))[0],
                versions=numbers.get(one.id, (1, 1))[1],
            )
            for one in found
        )

    def missing(self, model: str) -> tuple[Notice, ...]:
        """Told when drawers have no vector of the model: they cannot be found by meaning."""
        number = vectors.without_vector(self.store, model, self.max_mb)
        if not number:
            return ()
        return (
            Notice(
                "memcastle::search::not_embedded",
                f"{number:,} memories of the palace have no vector yet; meaning cannot find them.",
            ),
        )


class _Legs:
    """Ranks and scores of both legs, by drawer."""

    def __init__(self, words: dict[str, tuple[int, float]], pool: list[Near]) -> None:
        self._words = words
        self._near = {near.id: (place, near) for place, near in enumerate(pool, 1)}

    def signals(self, ident: str, fused: float | None) -> dict[str, dict[str, Any]]:
        """What each leg says of a drawer, and the fused score brought to 0..1."""
        signals: dict[str, dict[str, Any]] = {}
        if ident in self._words:
            rank, score = self._words[ident]
            signals["lexical"] = {"rank": rank, "score": score}
        if ident in self._near:
            rank, near = self._near[ident]
            signals["semantic"] = {"rank": rank, "similarity": near.similarity}
            if near.passage is not None:
                span = {"start": near.passage.start, "end": near.passage.end}
                signals["semantic"]["passage"] = span
        if fused is not None:
            signals["fused"] = {"normalized": fused * RRF_BEST / 2}
        return signals


def _cursor(filter: Scope, before: Cursor | None, after: int, number: int) -> str | None:
    if after >= number:
        return None
    if before:
        return replace(before, order=after, offset=after).encode()
    return first_cursor(filter, after, "", after, None).encode()


_UNRANKED = Notice(
    "memcastle::search::common_words",
    "No word of the query ranks, so only meaning orders these hits.",
)
_POOL_ENDS = Notice(
    "memcastle::search::pool_ends",
    f"Rankings by meaning end after the best {POOL} of each leg.",
)
