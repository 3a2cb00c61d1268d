"""Between rows of the database and records of the domain."""

from __future__ import annotations

from typing import Any

from surrealdb import Datetime, RecordID

from palace.domain.records import Drawer, derived_id
from palace.domain.time import print_instant

# Microseconds instead of datetimes: whole numbers decode faster and compare exactly.
_END = "(IF valid_to IS NONE THEN NONE ELSE time::micros(valid_to) END)"
_CLOSED = "(IF closed_at IS NONE THEN NONE ELSE time::micros(closed_at) END)"
_ALL_BUT_CONTENT = f"""
record::id(id) AS id, wing.name AS wing, room.name AS room, name, former_name, content_hash, size,
tags, source, provenance, key, close_reason, time::micros(valid_from) AS valid_from,
{_END} AS valid_to, time::micros(created_at) AS created_at, {_CLOSED} AS closed_at,
(supersedes ?? []).map(|$x| record::id($x)) AS supersedes,
(superseded_by ?? []).map(|$x| record::id($x)) AS superseded_by
"""
DRAWER = _ALL_BUT_CONTENT + ", content"
PREVIEW_CHARS = 1200
PREVIEW = _ALL_BUT_CONTENT + f", string::slice(content, 0, {PREVIEW_CHARS}) AS content"
BARE = _ALL_BUT_CONTENT + ", '' AS content"


def drawer_ref(ident: str) -> RecordID:
    return RecordID("drawer", ident)


def entity_ref(ident: str) -> RecordID:
    return RecordID("entity", ident)


def fact_ref(ident: str) -> RecordID:
    return RecordID("relates_to", ident)


def wing_ref(name: str) -> RecordID:
    """Places have ids derived from their names: a scope needs no look-up."""
    return RecordID("wing", derived_id("wing", name))


def room_ref(wing: str, name: str) -> RecordID:
    return RecordID("room", derived_id("room", wing, name))


def entity_id(name: str, kind: str) -> str:
    return derived_id("entity", name, kind)


def stored(instant: int) -> Datetime:
    """An instant as the database holds and compares it: nine digits, the last a one.

    The engine's indexes order datetimes as text without idle zeros, so that 09:00:00 would come
    after 09:00:00.1 and ranges would lose rows. With a nanosecond on every instant all texts are
    of one length; whole microseconds stay what they are.
    """
    return Datetime(f"{print_instant(instant)[:-1]}001Z")


def moment(instant: int | None) -> Datetime | None:
    return None if instant is None else stored(instant)


def read_drawer(row: dict[str, Any]) -> Drawer:
    """A `Drawer` from a row of one of the projections above."""
    row = dict(row)
    for listed in ("tags", "supersedes", "superseded_by"):
        row[listed] = tuple(row[listed])
    return Drawer(**row)


def write_drawer(drawer: Drawer, cjk: str | None) -> dict[str, Any]:
    """The row to store; absent values stay NONE."""
    return {
        "id": drawer_ref(drawer.id),
        "wing": wing_ref(drawer.wing),
        "room": room_ref(drawer.wing, drawer.room),
        "name": drawer.name,
        "former_name": drawer.former_name,
        "content": drawer.content,
        "content_hash": drawer.content_hash,
        "size": len(drawer.content.encode()),
        "cjk": cjk or None,
        "source": drawer.source,
        "tags": list(drawer.tags),
        "provenance": drawer.provenance,
        "key": drawer.key,
        "valid_from": stored(drawer.valid_from),
        "valid_to": moment(drawer.valid_to),
        "supersedes": [drawer_ref(other) for other in drawer.supersedes] or None,
        "superseded_by": [drawer_ref(other) for other in drawer.superseded_by] or None,
        "close_reason": drawer.close_reason,
        "created_at": stored(drawer.created_at),
        "closed_at": moment(drawer.closed_at),
        "updated_at": stored(drawer.closed_at or drawer.created_at),
    }
