"""Newest first by keyset: lists of a palace, a wing or a room, in the one scope."""

from __future__ import annotations

from dataclasses import dataclass

from palace.domain.query import Scope
from palace.domain.time import MAX_INSTANT, Temporal
from palace.store.branches import known_branches
from palace.store.connection import Store
from palace.store.rows import drawer_ref, stored
from palace.store.scope import Fragment, fragment
from palace.store.timeline import count

# With fewer drawers than this behind a tag, its own index beats walking by time.
FEW = 5_000


@dataclass(frozen=True)
class Position:
    """Where a page begins, exclusive: after the drawer of this beginning and id."""

    limit: int
    valid_from: int | None = None
    id: str = ""


_PAGE = """
SELECT VALUE [time::micros(valid_from), record::id(id)] FROM drawer {index}
WHERE {also} {scope} {after} ORDER BY valid_from DESC, id DESC LIMIT {limit}
"""
_AFTER = "AND valid_from <= $p_from AND (valid_from < $p_from OR id < $p_id)"


def page_ids(
    store: Store,
    scope: Scope,
    position: Position,
    *,
    also: Fragment | None = None,
    timeout: float | None = None,
) -> list[tuple[int, str]]:
    """``(valid_from, id)`` of one page, newest first, ties by id downwards."""
    where = fragment(scope, known_branches(store))
    variables = dict(where.variables)
    after = ""
    if position.valid_from is not None:
        after = _AFTER
        variables["p_from"] = stored(min(position.valid_from, MAX_INSTANT))
        variables["p_id"] = drawer_ref(position.id)
    if also is not None:
        variables.update(also.variables)
    sql = _PAGE.format(
        index=_index(store, scope),
        also=f"{also.sql} AND" if also is not None else "",
        scope=where.sql,
        after=after,
        limit=int(position.limit),
    )
    return [(int(row[0]), str(row[1])) for row in store.query(sql, timeout=timeout, **variables)]


def _index(store: Store, scope: Scope) -> str:
    """The index to walk. Named, because the planner may take one that misses rows."""
    if scope.tags and _behind_tags(store, scope) < FEW:
        return "WITH INDEX drawer_tags"
    if scope.wing is not None and scope.room is not None:
        return "WITH INDEX drawer_room_from"
    if scope.wing is not None:
        return "WITH INDEX drawer_wing_from"
    return "WITH INDEX drawer_from"


def _behind_tags(store: Store, scope: Scope) -> int:
    tagged = Scope(Temporal.history(), tags=scope.tags, stale="include")
    return count(store, tagged)
