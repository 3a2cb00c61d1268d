"""Drawers one by one: the atomic write blocks, and reads by id and by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from palace.domain.query import Scope
from palace.domain.records import Drawer
from palace.domain.text import grams_of
from palace.store import chronology
from palace.store.connection import Store
from palace.store.places import place_rows
from palace.store.rows import (
    BARE,
    DRAWER,
    PREVIEW,
    drawer_ref,
    moment,
    read_drawer,
    stored,
    write_drawer,
)
from palace.store.scope import fragment

# The same unnamed text, valid at the same instant in the same room, is not stored twice.
_FILE = """
{
    IF $row.name IS NONE {
        LET $twin = (SELECT VALUE record::id(id) FROM drawer WHERE content_hash = $row.content_hash
            AND room = $row.room AND name IS NONE AND former_name IS NONE
            AND valid_from <= $row.valid_from
            AND (valid_to IS NONE OR valid_to > $row.valid_from) LIMIT 1);
        IF array::len($twin) > 0 { RETURN { created: false, id: $twin[0] } };
    };
    INSERT IGNORE INTO wing $wings RETURN NONE;
    INSERT IGNORE INTO room $rooms RETURN NONE;
    CREATE ONLY $row.id CONTENT $row RETURN NONE;
    RETURN { created: true, id: record::id($row.id) };
}
"""

_OPEN = """
    LET $old = (SELECT * FROM ONLY $id);
    IF $old IS NONE { THROW 'drawer_not_found' };
    IF array::len($old.superseded_by ?? []) > 0 { THROW 'drawer_superseded' };
    IF $old.valid_to IS NOT NONE { THROW 'drawer_ended' };
    IF $seen IS NOT NONE AND $seen != $old.updated_at { THROW 'drawer_changed' };
    LET $t = IF $at IS NOT NONE { $at } ELSE IF $old.valid_from < $now { $now }
        ELSE { $old.valid_from + 1us };
    IF $t <= $old.valid_from { THROW 'not_after_valid_from' };
"""

_CLOSE = """
    UPDATE ONLY $id SET valid_to = $t, superseded_by = $next, close_reason = $reason,
        former_name = name ?? former_name, name = NONE, closed_at = $now, updated_at = $now
        RETURN NONE;
"""

_SUPERSEDE = f"""
{{
    {_OPEN}
    LET $next = [$new.id];
    {_CLOSE}
    INSERT IGNORE INTO wing $wings RETURN NONE;
    INSERT IGNORE INTO room $rooms RETURN NONE;
    CREATE ONLY $new.id CONTENT object::extend($new, {{ valid_from: $t }}) RETURN NONE;
    RETURN time::micros($t);
}}
"""

_INVALIDATE = f"""
{{
    {_OPEN}
    LET $next = NONE;
    {_CLOSE}
    RETURN time::micros($t);
}}
"""


@dataclass(frozen=True)
class Closing:
    """How a version ends: at an instant (None = now, or just after its beginning), and why."""

    id: str
    now: int
    at: int | None = None
    seen: int | None = None
    reason: str | None = None

    @property
    def variables(self) -> dict[str, Any]:
        return {
            "id": drawer_ref(self.id),
            "now": stored(self.now),
            "at": moment(self.at),
            "seen": moment(self.seen),
            "reason": self.reason,
        }


def file(store: Store, drawer: Drawer) -> tuple[bool, str]:
    """Store a new drawer with its wing and room; ``(created, id)``, the twin's id when not."""
    row = write_drawer(drawer, grams_of(drawer.content))
    wings, rooms = place_rows([(drawer.wing, drawer.room)], drawer.created_at)

    def note(result: dict[str, Any]) -> None:
        if result["created"]:
            chronology.note(store, began=[drawer])

    result = store.write(_FILE, after=note, row=row, wings=wings, rooms=rooms)
    return bool(result["created"]), str(result["id"])


def supersede(store: Store, closing: Closing, old: Drawer, new: Drawer) -> int:
    """Close ``old`` and open ``new`` at one instant, in one transaction; that instant.

    ``new.valid_from`` is set by the block. Raises Conflict: drawer_superseded, drawer_ended,
    drawer_changed, not_after_valid_from, drawer_name_taken.
    """
    row = write_drawer(new, grams_of(new.content))
    wings, rooms = place_rows([(new.wing, new.room)], new.created_at)

    def note(instant: int) -> None:
        began = replace(new, valid_from=instant)
        chronology.note(store, began=[began], ended=[(old, instant)])

    written = {"new": row, "wings": wings, "rooms": rooms, **closing.variables}
    return int(store.write(_SUPERSEDE, after=note, **written))


def invalidate(store: Store, closing: Closing, old: Drawer) -> int:
    """Close a drawer without a replacement; the instant of its end."""

    def note(instant: int) -> None:
        chronology.note(store, ended=[(old, instant)])

    return int(store.write(_INVALIDATE, after=note, **closing.variables))


_GET = f"SELECT {DRAWER} FROM $ids"
_GET_PREVIEW = f"SELECT {PREVIEW} FROM $ids"
_GET_BARE = f"SELECT {BARE} FROM $ids"
_UPDATED = "SELECT VALUE time::micros(updated_at) FROM ONLY $id"


def get(store: Store, ident: str) -> Drawer | None:
    """The drawer of an id, whatever its validity."""
    rows = store.query(_GET, ids=[drawer_ref(ident)])
    return read_drawer(rows[0]) if rows else None


def get_many(store: Store, idents: Sequence[str], *, content: str = "full") -> list[Drawer]:
    """Drawers in the order of ``idents``; missing ones are left out.

    ``content``: full, preview (the first 1,200 characters) or none.
    """
    if not idents:
        return []
    sql = {"full": _GET, "preview": _GET_PREVIEW, "none": _GET_BARE}[content]
    rows = store.query(sql, ids=[drawer_ref(ident) for ident in idents])
    by_id = {row["id"]: read_drawer(row) for row in rows}
    return [by_id[ident] for ident in idents if ident in by_id]


def updated_at(store: Store, ident: str) -> int | None:
    """When a drawer was last written: what an optimistic lock compares."""
    value = store.query(_UPDATED, id=drawer_ref(ident))
    return None if value is None else int(value)


_BY_NAME = """
SELECT VALUE record::id(id) FROM array::distinct(array::concat(
    (SELECT VALUE id FROM drawer WITH INDEX drawer_name WHERE room = $s_room AND name = $name),
    (SELECT VALUE id FROM drawer WITH INDEX drawer_former_name
        WHERE room = $s_room AND former_name = $name)
)) WHERE {scope} ORDER BY valid_from DESC, id DESC LIMIT 1
"""


def by_name(store: Store, scope: Scope, name: str) -> Drawer | None:
    """Who held a name in the scope's room at its time; a name or a former one."""
    where = fragment(scope)
    found = store.query(_BY_NAME.format(scope=where.sql), name=name, **where.variables)
    return get(store, found[0]) if found else None
