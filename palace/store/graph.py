"""The graph around drawers: mentioned entities, the facts between them, near drawers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from palace.domain.query import Scope
from palace.domain.records import Entity, Fact
from palace.domain.time import Temporal
from palace.store.branches import known_branches
from palace.store.connection import Store
from palace.store.rows import drawer_ref, entity_ref
from palace.store.scope import fragment

ENTITY_CAP = 60
GROUP_CAP = 400

_ENTITY = "{ id: record::id(id), name: name, kind: kind, aliases: aliases, properties: properties }"
_MENTIONED = f"""
SELECT VALUE {_ENTITY} FROM array::distinct($id->mentions->entity) ORDER BY name, kind LIMIT 200
"""

_FACTS = """
SELECT record::id(id) AS id, in AS subject, out AS object, predicate, confidence,
    time::micros(valid_from) AS valid_from,
    (IF valid_to IS NONE THEN NONE ELSE time::micros(valid_to) END) AS valid_to,
    [record::id(in), in.name, in.kind, in.aliases] AS s,
    [record::id(out), out.name, out.kind, out.aliases] AS o
FROM array::distinct(array::concat(
    array::flatten($entities->relates_to), array::flatten($entities<-relates_to)))
WHERE {time} ORDER BY valid_from DESC, id LIMIT 200
"""

# Drawers that share entities with this one, most shared first; a hub counts for little, since
# every entity's weight is one over the number of drawers that mention it.
_SHARED = """
{{
    LET $mine = array::slice(array::distinct($id->mentions->entity), 0, {entities});
    LET $pairs = (SELECT e, w, drawer FROM (SELECT id AS e,
        1.0 / math::max([1, array::len(<-mentions)]) AS w,
        array::slice(<-mentions<-drawer, 0, {group}) AS drawer FROM $mine) SPLIT drawer);
    LET $near = (SELECT drawer AS id, array::group(e) AS via, math::sum(w) AS weight FROM $pairs
        WHERE drawer != $id GROUP BY id ORDER BY weight DESC, id LIMIT {group});
    LET $ids = $near.id;
    LET $within = (SELECT VALUE id FROM $ids WHERE {scope});
    RETURN (SELECT record::id(id) AS id, weight, via.name AS names FROM $near
        WHERE id IN $within ORDER BY weight DESC, id LIMIT $limit);
}}
"""


@dataclass(frozen=True)
class Shared:
    """A near drawer: the names of the entities both mention, and a damped weight."""

    id: str
    weight: float
    names: tuple[str, ...]


def mentioned(store: Store, drawer: str) -> tuple[Entity, ...]:
    """The entities a drawer mentions, by name."""
    rows = store.query(_MENTIONED, id=drawer_ref(drawer))
    return tuple(Entity(**{**row, "aliases": tuple(row["aliases"])}) for row in rows)


def facts_about(store: Store, entities: list[str], time: Temporal) -> tuple[Fact, ...]:
    """The facts that tie entities to others within a time, latest first."""
    if not entities:
        return ()
    where = fragment(Scope(time, stale="include"))
    refs = [entity_ref(one) for one in entities]
    rows = store.query(_FACTS.format(time=where.sql), entities=refs, **where.variables)
    return tuple(_fact(row) for row in rows)


def shared_entities(store: Store, drawer: str, scope: Scope, limit: int) -> tuple[Shared, ...]:
    """Drawers of the scope that mention what this one mentions."""
    where = fragment(scope, known_branches(store))
    sql = _SHARED.format(scope=where.sql, entities=ENTITY_CAP, group=GROUP_CAP)
    rows = store.query(sql, id=drawer_ref(drawer), limit=limit, **where.variables)
    return tuple(Shared(row["id"], float(row["weight"]), tuple(row["names"])) for row in rows)


def _fact(row: dict[str, Any]) -> Fact:
    subject, target = (
        Entity(ident, name, kind, tuple(aliases))
        for ident, name, kind, aliases in (row["s"], row["o"])
    )
    return Fact(
        id=str(row["id"]),
        subject=subject,
        predicate=row["predicate"],
        object=target,
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        confidence=row["confidence"],
    )
