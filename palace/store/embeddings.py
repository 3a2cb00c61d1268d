"""Rows of the table `embedding`: derived from drawers, apart from them, one for each passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from surrealdb import RecordID

from palace.domain.embedding import Vector, pack
from palace.domain.records import derived_id
from palace.store.connection import Store
from palace.store.rows import drawer_ref, stored, wing_ref

CALLER = "caller"  # the model of vectors that came without a name, and the text hash of all such
BATCH = 200
PAGE = 1_000
LISTENERS = "embedding_listeners"

# In one transaction the engine refuses to insert an id that it has just deleted, and its DELETE
# finds nothing by IN: so rows are written over, and those beyond them are looked up first.
_WRITE = """
{
    LET $gone = (SELECT VALUE id FROM embedding WITH INDEX embedding_drawer
        WHERE drawer IN $drawers AND passage >= $least AND id NOT IN $kept);
    DELETE $gone RETURN NONE;
    FOR $r IN $rows { UPSERT ONLY $r.id CONTENT $r RETURN NONE };
}
"""


@dataclass(frozen=True)
class PassageRow:
    """The vector of a stretch of a drawer's text; offsets in code points."""

    drawer: str
    passage: int
    start: int
    end: int
    vector: Vector
    model: str
    text_hash: str
    embedded_at: int

    def as_stored(self) -> dict[str, Any]:
        return {
            "id": _ref(self.drawer, self.passage),
            "drawer": drawer_ref(self.drawer),
            "passage": self.passage,
            "start": self.start,
            "end": self.end,
            "vector": pack(self.vector),
            "model": self.model,
            "text_hash": self.text_hash,
            "embedded_at": stored(self.embedded_at),
        }


def _ref(drawer: str, passage: int) -> RecordID:
    """Derived, so that whether a drawer has a first passage is a look-up without an index."""
    return RecordID("embedding", derived_id(drawer, str(passage)))


def write_passages(store: Store, rows: Sequence[PassageRow]) -> None:
    """Replace the rows of all drawers that occur in ``rows``, which holds each of them whole.

    A drawer is never split over two blocks: half of one would count as embedded for ever.
    """
    by_drawer: dict[str, list[PassageRow]] = {}
    for row in rows:
        by_drawer.setdefault(row.drawer, []).append(row)
    batch: list[PassageRow] = []
    for own in by_drawer.values():
        if batch and len(batch) + len(own) > BATCH:
            _write(store, batch)
            batch = []
        batch += own
    if batch:
        _write(store, batch)


def _write(store: Store, rows: Sequence[PassageRow]) -> None:
    _replace(store, dict.fromkeys(row.drawer for row in rows), [row.as_stored() for row in rows])


def delete(store: Store, drawer: str) -> None:
    """Forget the vectors of a drawer; the drawer stays as it is."""
    _replace(store, [drawer], [])


def _replace(store: Store, drawers: Iterable[str], rows: Sequence[dict[str, Any]]) -> None:
    ids = list(drawers)
    numbers = Counter(row["drawer"].id for row in rows)
    store.write(
        _WRITE,
        after=_telling(store, ids),
        drawers=[drawer_ref(one) for one in ids],
        least=min(numbers[one] for one in ids),
        kept=[row["id"] for row in rows],
        rows=list(rows),
    )


def _telling(store: Store, drawers: list[str]) -> Callable[[Any], None]:
    """Caches hear of a write before the writer's lock is given back."""

    def tell(_: Any) -> None:
        for listener in list(store.caches.get(LISTENERS, ())):
            listener(drawers)

    return tell


_IDS = """
SELECT VALUE [record::id(id), size, valid_to IS NONE, wing]
FROM type::record('drawer', $start..) LIMIT $page
"""
# A caller's vector counts whatever its model, until all is made anew.
_DONE = """
SELECT VALUE record::id(drawer) FROM $refs
WHERE (model IN $models OR text_hash = $caller) AND ($since IS NONE OR embedded_at >= $since)
"""
_CONTENTS = "SELECT VALUE [record::id(id), content] FROM $ids"


def without_vector(
    store: Store, model: str, *, wing: str | None = None, since: int | None = None
) -> list[tuple[str, int]]:
    """``(id, bytes)`` of drawers without a vector of a model: current ones first, then by id.

    With ``since`` only vectors made from then on count.
    """
    missing: list[tuple[bool, str, int]] = []
    for page in _pages(store, wing):
        done = embedded(store, model, [row[0] for row in page], since=since)
        missing += [(not current, one, size) for one, size, current in page if one not in done]
    return [(one, size) for _, one, size in sorted(missing)]


def embedded(
    store: Store, model: str, drawers: Sequence[str], *, since: int | None = None
) -> set[str]:
    """Which of some drawers have a vector of a model, or one that a caller gave."""
    found = store.query(
        _DONE,
        refs=[_ref(one, 0) for one in drawers],
        models=[model, CALLER],
        caller=CALLER,
        since=None if since is None else stored(since),
    )
    return {str(one) for one in found}


def contents(store: Store, drawers: Sequence[str]) -> list[tuple[str, str]]:
    """``(id, text)`` of drawers, in the order asked."""
    found = store.query(_CONTENTS, ids=[drawer_ref(one) for one in drawers])
    texts = {row[0]: row[1] for row in found}
    return [(one, texts[one]) for one in drawers if one in texts]


def _pages(store: Store, wing: str | None) -> Iterator[list[tuple[str, int, bool]]]:
    """All drawers, or those of a wing, in pages by id."""
    wanted, start = wing_ref(wing) if wing is not None else None, ""
    while True:
        rows = store.query(_IDS, start=start, page=PAGE)
        yield [
            (row[0], row[1], row[2])
            for row in rows
            if row[0] != start and (wanted is None or row[3] == wanted)
        ]
        if len(rows) < PAGE:
            return
        start = rows[-1][0]


_TOTALS = "SELECT wing.name AS wing, count() AS number FROM drawer GROUP BY wing"
_COVERED = """
SELECT drawer.wing.name AS wing, count() AS number FROM embedding
WHERE passage = 0 AND (model IN $models OR text_hash = $caller) GROUP BY wing
"""


def coverage(store: Store, model: str) -> dict[str, tuple[int, int]]:
    """``wing -> (embedded, all)``, kept until the next write."""
    kept = store.caches.get("coverage")
    if kept is None or kept[:2] != (store.version, model):
        kept = (store.version, model, _coverage(store, model))
        store.caches["coverage"] = kept
    return dict(kept[2])


def _coverage(store: Store, model: str) -> dict[str, tuple[int, int]]:
    found = store.query(_COVERED, models=[model, CALLER], caller=CALLER)
    covered = {row["wing"]: row["number"] for row in found}
    totals = store.query(_TOTALS)
    rows = sorted((row["wing"], row["number"]) for row in totals)
    return {wing: (covered.get(wing, 0), number) for wing, number in rows}


# One look-up a hash: a text that stands in a thousand drawers is not read a thousand times.
# What is not asked is left out: an OR would make the engine scan the table for each.
_KNOWN = """
RETURN $hashes.map(|$hash| (SELECT VALUE [text_hash, vector] FROM ONLY embedding
    WITH INDEX embedding_text WHERE model = $model AND text_hash = $hash {since} LIMIT 1))
"""


def existing_text(
    store: Store, model: str, hashes: Iterable[str], *, since: int | None = None
) -> dict[str, bytes]:
    """``text hash -> packed vector`` of texts that a model has embedded already."""
    wanted = list(hashes)
    if not wanted:
        return {}
    given = {} if since is None else {"since": stored(since)}
    sql = _KNOWN.format(since="AND embedded_at >= $since" if given else "")
    rows = store.query(sql, hashes=wanted, model=model, timeout=None, **given)
    return {row[0]: row[1] for row in rows if row}
