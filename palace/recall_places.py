"""The tree of wings and rooms with counts, and names that are not in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from palace.domain.errors import Notice
from palace.domain.facets import relaxed
from palace.domain.query import Scope
from palace.domain.records import Wing
from palace.store import places, timeline
from palace.store.connection import Store


@dataclass(frozen=True)
class Palace:
    """Wings with their rooms and how many drawers each holds in a scope."""

    wings: tuple[Wing, ...]
    total: int


def counted_palace(store: Store, filter: Scope, *, use_chronology: bool) -> Palace:
    """The whole tree with counts in the scope; empty rooms stay, with zero."""
    counts = timeline.room_counts(store, relaxed(filter), use_chronology=use_chronology)
    wings = []
    for wing in places.tree(store):
        rooms = tuple(
            replace(room, count=counts.get((wing.name, room.name), 0)) for room in wing.rooms
        )
        wings.append(replace(wing, rooms=rooms, count=sum(room.count for room in rooms)))
    return Palace(tuple(wings), sum(wing.count for wing in wings))


def unknown_names(store: Store, filter: Scope) -> tuple[Notice, ...]:
    """Notices for a wing or a room that the palace does not have."""
    wings = places.tree(store)
    told = []
    if filter.wing is not None and not any(one.name == filter.wing for one in wings):
        told.append(Notice("memcastle::palace::wing_not_found", _no("wing", filter.wing)))
    rooms = [room for one in wings if filter.wing in (None, one.name) for room in one.rooms]
    if filter.room is not None and not any(one.name == filter.room for one in rooms):
        told.append(Notice("memcastle::palace::room_not_found", _no("room", filter.room)))
    return tuple(told)


def _no(what: str, name: str) -> str:
    return f"There is no {what} “{name}” in this palace."
