"""Search by meaning, exactly: rank in the matrix, filter in the database, until enough survive.

Recall is 1.0 at every scope: a drawer that is nearer than one on the page was looked at and lies
outside the scope. Drawers count by their best passage; ties break by id.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from palace.domain.embedding import Vector
from palace.domain.query import Scope
from palace.store.branches import known_branches
from palace.store.chronology import resident as chronology
from palace.store.connection import Store
from palace.store.resident import Floats, Passage, Resident, resident
from palace.store.rows import drawer_ref
from palace.store.scope import fragment
from palace.store.timeline import count

FIRST_LOOK = 100
NARROW = 3_000


@dataclass(frozen=True)
class Near:
    """A drawer of the scope, its cosine, and the passage it counts by."""

    id: str
    similarity: float
    passage: Passage | None


_WITHIN = "SELECT VALUE record::id(id) FROM $ids WHERE {scope}"
_NARROW = "SELECT VALUE record::id(id) FROM drawer WHERE {scope} LIMIT {most}"


@dataclass(frozen=True)
class Question:
    """A query vector of one model, how many are wanted, and the memory allowed."""

    vector: Vector
    model: str
    limit: int
    max_mb: int = 4096
    use_chronology: bool = True


def nearest(
    store: Store, scope: Scope, question: Question, timeout: float | None = None
) -> list[Near]:
    """The ``limit`` nearest drawers of a scope, nearest first."""
    matrix = resident(store, question.max_mb)
    scores = matrix.similarities(question.model, question.vector)
    narrow = _narrow_ids(store, scope, question, timeout)
    if narrow is not None:
        places = matrix.places(narrow)
        chosen = _ordered(matrix, scores, places)[: question.limit]
    else:
        chosen = _growing(store, scope, matrix, scores, question.limit, timeout)
    return [
        Near(
            matrix.drawers[place],
            float(scores[place]),
            matrix.passage(question.model, matrix.drawers[place], question.vector),
        )
        for place in chosen
    ]


def _narrow_ids(
    store: Store, scope: Scope, question: Question, timeout: float | None
) -> list[str] | None:
    """All ids of a small scope; None when it is large, or too dear to count first."""
    if not (question.use_chronology and scope.is_countable):
        return None
    if count(store, scope) > NARROW:
        return None
    where = fragment(scope, known_branches(store))
    sql = _NARROW.format(scope=where.sql, most=NARROW + 1)
    return [str(one) for one in store.query(sql, timeout=timeout, **where.variables)]


def _growing(
    store: Store,
    scope: Scope,
    matrix: Resident,
    scores: Floats,
    limit: int,
    timeout: float | None,
) -> list[int]:
    """Ask the database about the best, four times as many each time, until enough survive."""
    where = fragment(scope, known_branches(store))
    statement = _WITHIN.format(scope=where.sql)
    usable = int((scores > -2).sum())
    look, found, seen = max(FIRST_LOOK, 2 * limit), [], 0  # type: tuple[int, list[int], int]
    while True:
        best = _best(matrix, scores, min(look, usable))
        fresh = best[seen:]
        ids = [drawer_ref(matrix.drawers[place]) for place in fresh]
        inside = set(store.query(statement, timeout=timeout, ids=ids, **where.variables))
        found += [place for place in fresh if matrix.drawers[place] in inside]
        seen = len(best)
        if len(found) >= limit or seen >= usable:
            return found[:limit]
        look = 4 * seen


def _best(matrix: Resident, scores: Floats, number: int) -> list[int]:
    """The places of the best ``number`` drawers, and of all that tie with the last."""
    if number <= 0:
        return []
    least = np.partition(scores, len(scores) - number)[len(scores) - number]
    return _ordered(matrix, scores, np.flatnonzero(scores >= max(least, -1.5)))


def _ordered(matrix: Resident, scores: Floats, places: NDArray[np.int64]) -> list[int]:
    usable = [int(place) for place in places if scores[place] > -2]
    return sorted(usable, key=lambda place: (-scores[place], matrix.drawers[place]))


_FUSE = """
SELECT record::id(id) AS id, rrf_score AS score
FROM search::rrf([$lexical, $semantic], $most, 60) ORDER BY rrf_score DESC, id
"""


def fuse(store: Store, lexical: list[str], semantic: list[str]) -> list[tuple[str, float]]:
    """Reciprocal rank fusion, k = 60 (Cormack, Clarke, Buettcher 2009), in the database.

    The order is made outside the engine's function, which breaks ties at random.
    """
    words = [{"id": drawer_ref(one)} for one in lexical]
    meaning = [{"id": drawer_ref(one)} for one in semantic]
    most = len(lexical) + len(semantic)
    if not most:
        return []
    rows = store.query(_FUSE, most=most, lexical=words, semantic=meaning)
    ordered = sorted(rows, key=lambda row: (-row["score"], row["id"]))
    return [(row["id"], float(row["score"])) for row in ordered]


def without_vector(store: Store, model: str, max_mb: int) -> int:
    """How many drawers of the palace have no vector of a model."""
    return int(chronology(store).counts_all) - resident(store, max_mb).embedded(model)


def models(store: Store, max_mb: int) -> list[str]:
    """The models whose vectors the palace holds, by name."""
    return sorted(resident(store, max_mb).models)
