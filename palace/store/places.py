"""Wings and rooms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from palace.domain.records import Room, Wing
from palace.store.connection import Store
from palace.store.rows import room_ref, stored, wing_ref

_WINGS = "SELECT name, description, time::micros(created_at) AS created_at FROM wing"
_ROOMS = """
SELECT wing.name AS wing, name, description, time::micros(created_at) AS created_at FROM room
"""


def tree(store: Store) -> tuple[Wing, ...]:
    """All wings by name, each with its rooms by name; kept until the next write."""
    version = store.version
    cached: tuple[int, tuple[Wing, ...]] | None = store.caches.get("tree")
    if cached and cached[0] == version and not store.address.is_server:
        return cached[1]
    wings, rooms = store.query_all(f"{_WINGS}; {_ROOMS}")
    by_wing: dict[str, list[Room]] = {}
    for row in rooms:
        by_wing.setdefault(row["wing"], []).append(Room(**row))
    result = tuple(
        Wing(**row, rooms=tuple(sorted(by_wing.get(row["name"], ()), key=lambda room: room.name)))
        for row in sorted(wings, key=lambda row: row["name"])
    )
    store.caches["tree"] = (version, result)
    return result


def place_rows(
    places: Iterable[tuple[str, str]], created_at: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the wings and rooms that must exist, for INSERT IGNORE."""
    at = stored(created_at)
    distinct = sorted(set(places))
    wings = [
        {"id": wing_ref(wing), "name": wing, "created_at": at}
        for wing in sorted({wing for wing, _ in distinct})
    ]
    rooms = [
        {"id": room_ref(wing, room), "wing": wing_ref(wing), "name": room, "created_at": at}
        for wing, room in distinct
    ]
    return wings, rooms


_ENSURE = """
{
    LET $there = (SELECT VALUE id FROM $row.id);
    INSERT IGNORE INTO wing $wings RETURN NONE;
    IF array::len($there) = 0 { CREATE ONLY $row.id CONTENT $row RETURN NONE };
    IF $row.description IS NOT NONE {
        UPDATE ONLY $row.id SET description = $row.description RETURN NONE
    };
    IF array::len($there) > 0 AND $overwrite {
        UPDATE ONLY $row.id SET created_at = $row.created_at RETURN NONE
    };
    RETURN array::len($there) = 0;
}
"""


def ensure_wing(store: Store, wing: Wing, *, overwrite: bool = False) -> bool:
    """Create or find a wing, giving it its description; True when it is new."""
    row = {
        "id": wing_ref(wing.name),
        "name": wing.name,
        "description": wing.description,
        "created_at": stored(wing.created_at),
    }
    return bool(store.write(_ENSURE, row=row, wings=[], overwrite=overwrite))


def ensure_room(store: Store, room: Room, *, overwrite: bool = False) -> bool:
    """Create or find a room and its wing; True when the room is new."""
    wings, _ = place_rows([(room.wing, room.name)], room.created_at)
    row = {
        "id": room_ref(room.wing, room.name),
        "wing": wing_ref(room.wing),
        "name": room.name,
        "description": room.description,
        "created_at": stored(room.created_at),
    }
    return bool(store.write(_ENSURE, row=row, wings=wings, overwrite=overwrite))
