"""Writes the JSON lines format: everything of a scope, in an order that is always the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from palace.domain.query import Scope
from palace.domain.records import Drawer
from palace.domain.time import print_instant
from palace.store import exporting, places
from palace.store.connection import Store

Row = dict[str, Any]


def export_rows(store: Store, scope: Scope, exported_at: int, said: Row) -> Iterator[Row]:
    """The manifest, then wings, rooms, entities, drawers by id, mentions and facts.

    ``said`` is the scope in words of the command, for the manifest. Mentions are those of the
    drawers written; facts those that hold within the scope's time.
    """
    yield {
        "type": "manifest",
        "format": "memcastle-palace",
        "version": 1,
        "exported_at": print_instant(exported_at),
        "scope": said,
    }
    yield from _places(store, scope)
    for entity in exporting.all_entities(store):
        yield _bare({"type": "entity", **{key: entity[key] for key in _ENTITY}})
    written = set()
    for drawer in exporting.all_drawers(store, scope):
        written.add(drawer.id)
        yield _drawer(drawer)
    for ident, name, kind, created_at in exporting.all_mentions(store):
        if ident in written:
            yield {
                "type": "mention",
                "drawer": ident,
                "entity": name,
                "kind": kind,
                "created_at": print_instant(created_at),
            }
    for fact in exporting.all_facts(store, scope):
        yield _fact(fact)


_ENTITY = ("name", "kind", "aliases", "properties")


def _places(store: Store, scope: Scope) -> Iterator[Row]:
    for wing in places.tree(store):
        if scope.wing not in (None, wing.name):
            continue
        yield _bare(
            {
                "type": "wing",
                "name": wing.name,
                "description": wing.description,
                "created_at": print_instant(wing.created_at),
            }
        )
        for room in wing.rooms:
            if scope.room in (None, room.name):
                yield _bare(
                    {
                        "type": "room",
                        "wing": room.wing,
                        "name": room.name,
                        "description": room.description,
                        "created_at": print_instant(room.created_at),
                    }
                )


def _drawer(drawer: Drawer) -> Row:
    return _bare(
        {
            "type": "drawer",
            "id": drawer.id,
            "wing": drawer.wing,
            "room": drawer.room,
            "name": drawer.name,
            "former_name": drawer.former_name,
            "key": drawer.key,
            "content": drawer.content,
            "tags": list(drawer.tags),
            "source": dict(sorted(drawer.source.items())),
            "provenance": dict(sorted(drawer.provenance.items())),
            "valid_from": print_instant(drawer.valid_from),
            "valid_to": _text(drawer.valid_to),
            "created_at": print_instant(drawer.created_at),
            "closed_at": _text(drawer.closed_at),
            "close_reason": drawer.close_reason,
            "supersedes": list(drawer.supersedes),
            "superseded_by": list(drawer.superseded_by),
        }
    )


def _fact(fact: Row) -> Row:
    evidence = fact.get("drawers") or []
    return _bare(
        {
            "type": "fact",
            "id": fact["id"],
            **{key: fact[key] for key in ("subject", "subject_kind", "predicate")},
            "object": fact["object"],
            "object_kind": fact["object_kind"],
            "confidence": fact["confidence"],
            "valid_from": print_instant(fact["valid_from"]),
            "valid_to": _text(fact["valid_to"]),
            "created_at": print_instant(fact["created_at"]),
            "closed_at": _text(fact["closed_at"]),
            "evidence": evidence[0] if evidence else None,
        }
    )


def _bare(row: Row) -> Row:
    """Without what is absent or empty."""
    return {key: value for key, value in row.items() if value not in (None, [], {})}


def _text(instant: int | None) -> str | None:
    return None if instant is None else print_instant(instant)
