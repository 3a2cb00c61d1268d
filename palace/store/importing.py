"""Writing many records at once: batches of one atomic block each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from palace.domain.records import Drawer
from palace.domain.text import grams_of
from palace.store import chronology
from palace.store.connection import Store
from palace.store.drawers import get_many
from palace.store.places import place_rows
from palace.store.rows import drawer_ref, entity_ref, moment, room_ref, stored, write_drawer

_IMPORT = """
{
    INSERT IGNORE INTO wing $wings RETURN NONE;
    INSERT IGNORE INTO room $rooms RETURN NONE;
    FOR $c IN $closings {
        UPDATE ONLY $c.id SET valid_to = $c.valid_to, closed_at = $c.closed_at,
            updated_at = $now, close_reason = $c.reason ?? close_reason,
            superseded_by = IF $c.after IS NONE { superseded_by }
                ELSE { array::union(superseded_by ?? [], [$c.after]) },
            former_name = name ?? former_name, name = NONE RETURN NONE;
    };
    FOR $l IN $links {
        UPDATE ONLY $l.id SET supersedes = array::union(supersedes ?? [], [$l.before]),
            updated_at = $now RETURN NONE;
    };
    INSERT INTO drawer $rows RETURN NONE;
}
"""


@dataclass(frozen=True)
class End:
    """How a stored version ends: by a successor (``after``) or by an end of its own."""

    id: str
    valid_to: int
    closed_at: int
    after: str | None = None
    reason: str | None = None


def write_batch(
    store: Store,
    drawers: Sequence[Drawer],
    ends: Sequence[End],
    now: int,
    links: Sequence[tuple[str, str]] = (),
) -> None:
    """Close and file in one transaction: ends first, so that names are free.

    ``links`` are ``(stored drawer, drawer it supersedes)`` to be added.
    """
    places = [(one.wing, one.room) for one in drawers]
    wings, rooms = place_rows(places, now)
    closed = {one.id: one for one in get_many(store, [end.id for end in ends], content="none")}

    def note(_: Any) -> None:
        moved = [end for end in ends if end.id in closed and closed[end.id].valid_to is not None]
        if moved or any(end.valid_to <= closed[end.id].valid_from for end in ends):
            chronology.forget(store)
            chronology.note(store)
            return
        pairs = [(closed[end.id], end.valid_to) for end in ends]
        chronology.note(store, began=drawers, ended=pairs)

    store.write(
        _IMPORT,
        after=note,
        wings=wings,
        rooms=rooms,
        now=stored(now),
        closings=[_closing(end) for end in ends if end.id in closed],
        links=[{"id": drawer_ref(one), "before": drawer_ref(before)} for one, before in links],
        rows=[write_drawer(one, grams_of(one.content)) for one in drawers],
    )


def _closing(end: End) -> dict[str, Any]:
    return {
        "id": drawer_ref(end.id),
        "valid_to": stored(end.valid_to),
        "closed_at": moment(end.closed_at),
        "after": drawer_ref(end.after) if end.after else None,
        "reason": end.reason,
    }


_EXISTING = "SELECT VALUE [record::id(id), content_hash] FROM $ids"
_BY_KEY = """
SELECT VALUE record::id(id) FROM drawer WITH INDEX drawer_key WHERE key IN $keys
"""
_NAMED = """
SELECT VALUE [wing.name, room.name, name, record::id(id)] FROM drawer WITH INDEX drawer_name
WHERE room = $room AND name IN $names
"""


def existing(store: Store, idents: Iterable[str]) -> dict[str, str]:
    """Which of the ids are drawers already, with the hash of the text of each."""
    refs = [drawer_ref(one) for one in idents]
    return dict(store.query(_EXISTING, ids=refs)) if refs else {}


def versions_of(store: Store, keys: Sequence[str]) -> list[Drawer]:
    """All stored versions of some keys, without content."""
    found: list[Drawer] = []
    for start in range(0, len(keys), 200):
        idents = store.query(_BY_KEY, keys=list(keys[start : start + 200]))
        found.extend(get_many(store, [str(one) for one in idents], content="none"))
    return found


def holders(store: Store, wanted: Iterable[tuple[str, str, str]]) -> dict[tuple[str, ...], str]:
    """Who holds names now: ``(wing, room, name)`` to a drawer's id."""
    rooms: dict[tuple[str, str], list[str]] = {}
    for wing, room, name in wanted:
        rooms.setdefault((wing, room), []).append(name)
    held: dict[tuple[str, ...], str] = {}
    for (wing, room), names in rooms.items():
        for row in store.query(_NAMED, room=room_ref(wing, room), names=names):
            held[tuple(row[:3])] = row[3]
    return held


_ENTITIES = """
{
    FOR $e IN $rows {
        UPSERT ONLY $e.id SET name = $e.name, kind = $e.kind, key = $e.key,
            aliases = array::union(aliases ?? [], $e.aliases),
            names = array::union(names ?? [], $e.names),
            properties = object::extend(properties ?? {}, $e.properties),
            created_at = created_at ?? $now RETURN NONE;
    };
}
"""


def write_entities(store: Store, rows: Sequence[dict[str, Any]], now: int) -> None:
    """Create entities, or give stored ones further aliases and properties."""
    store.write(_ENTITIES, rows=list(rows), now=stored(now))


_MENTIONS = "{ INSERT RELATION IGNORE INTO mentions $rows RETURN NONE }"
_FACTS = "{ INSERT RELATION IGNORE INTO relates_to $rows RETURN NONE }"


def write_mentions(store: Store, pairs: Sequence[tuple[str, str, int]]) -> None:
    """Tie drawers to entities, each pair once: ``(drawer, entity, created_at)``."""
    rows = [
        {"in": drawer_ref(one), "out": entity_ref(entity), "created_at": stored(at)}
        for one, entity, at in pairs
    ]
    store.write(_MENTIONS, rows=rows)


def write_facts(store: Store, rows: Sequence[dict[str, Any]]) -> None:
    """Store facts; those that are there already stay as they are."""
    store.write(_FACTS, rows=list(rows))


_SET_MINED = """
{
    UPSERT ONLY type::record('mined', $key) SET project = $project, branch = $branch,
        commit = $commit, updated_at = $now RETURN NONE;
}
"""
_GET_MINED = "SELECT VALUE commit FROM ONLY type::record('mined', $key)"


def set_mined(store: Store, project: str, branch: str, commit: str, now: int) -> None:
    """Remember up to which commit a line of history was filed."""
    store.write(
        _SET_MINED,
        key=f"{project}\n{branch}",
        project=project,
        branch=branch,
        commit=commit,
        now=stored(now),
    )


def get_mined(store: Store, project: str, branch: str) -> str | None:
    """The commit up to which a line of history was filed."""
    value = store.query(_GET_MINED, key=f"{project}\n{branch}")
    return None if value is None else str(value)


_OPEN_FILES = """
SELECT VALUE [source.path, key, content_hash, time::micros(valid_from)] FROM drawer
WITH INDEX drawer_wing_from
WHERE wing = $wing AND source.project = $project AND source.branch IS NONE
    AND valid_to IS NONE AND key IS NOT NONE
"""


def open_files(store: Store, wing: Any, project: str) -> list[tuple[str, str, str, int]]:
    """``(path, key, hash, valid_from)`` of the files of a mined folder that are open now."""
    return [tuple(row) for row in store.query(_OPEN_FILES, wing=wing, project=project)]
