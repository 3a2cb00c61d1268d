"""Reading everything out again, page by page, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from palace.domain.query import Scope
from palace.domain.records import Drawer
from palace.store.branches import known_branches
from palace.store.connection import Store
from palace.store.rows import DRAWER, drawer_ref, read_drawer
from palace.store.scope import fragment

PAGE = 200

_IDS = "SELECT VALUE record::id(id) FROM type::record('drawer', $start..) LIMIT $page"


def all_drawers(store: Store, scope: Scope) -> Iterator[Drawer]:
    """Every drawer of a scope by id, with content; pages by id, so it grows evenly."""
    where = fragment(scope, known_branches(store))
    statement = f"SELECT {DRAWER} FROM $ids WHERE {where.sql}"
    start = ""
    while True:
        idents = [str(one) for one in store.query(_IDS, start=start, page=PAGE)]
        fresh = [one for one in idents if one != start]
        rows = store.query(statement, ids=[drawer_ref(one) for one in fresh], **where.variables)
        yield from sorted((read_drawer(row) for row in rows), key=lambda one: one.id)
        if len(idents) < PAGE:
            return
        start = idents[-1]


_ENTITIES = """
SELECT record::id(id) AS id, name, kind, aliases, properties FROM entity ORDER BY name, kind
"""
_MENTIONS = """
SELECT VALUE [record::id(in), out.name, out.kind, time::micros(created_at)] FROM mentions
"""
_FACTS = """
SELECT record::id(id) AS id, in.name AS subject, in.kind AS subject_kind, predicate,
    out.name AS object, out.kind AS object_kind, confidence,
    time::micros(valid_from) AS valid_from,
    (IF valid_to IS NONE THEN NONE ELSE time::micros(valid_to) END) AS valid_to,
    time::micros(created_at) AS created_at,
    (IF closed_at IS NONE THEN NONE ELSE time::micros(closed_at) END) AS closed_at,
    provenance.drawers AS drawers
FROM relates_to WHERE {time} ORDER BY id
"""


def all_entities(store: Store) -> list[dict[str, Any]]:
    """Entities by name and kind."""
    return list(store.query(_ENTITIES))


def all_mentions(store: Store) -> list[tuple[str, str, str, int]]:
    """``(drawer, entity, kind, created_at)``, sorted."""
    return sorted(tuple(row) for row in store.query(_MENTIONS))


def all_facts(store: Store, scope: Scope) -> list[dict[str, Any]]:
    """Facts that hold within the scope's time."""
    where = fragment(Scope(scope.time, stale="include"))
    return list(store.query(_FACTS.format(time=where.sql), **where.variables))
