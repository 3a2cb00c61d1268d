"""What routes answer with: drawers verbatim, instants in one fixed width."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest
from ninja.renderers import BaseRenderer

from palace.domain.errors import Notice
from palace.domain.records import Drawer, Entity, Fact, Room, Wing
from palace.domain.results import Facet, Hit, SearchResult
from palace.domain.time import Temporal, print_instant, state_at

Json = dict[str, Any]


class Utf8Renderer(BaseRenderer):
    """JSON as UTF-8 text: half the bytes of escapes for most of the world's scripts."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        # A lone surrogate can only come from the caller's own odd input, echoed in a notice.
        return json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "replace")


def instant(value: int | None) -> str | None:
    return None if value is None else print_instant(value)


def drawer_json(drawer: Drawer) -> Json:
    """A drawer with everything but its vector."""
    return {
        "id": drawer.id,
        "wing": drawer.wing,
        "room": drawer.room,
        "name": drawer.name,
        "former_name": drawer.former_name,
        "content": drawer.content,
        "content_hash": drawer.content_hash,
        "size": drawer.size,
        "tags": list(drawer.tags),
        "source": drawer.source,
        "provenance": drawer.provenance,
        "key": drawer.key,
        "valid_from": instant(drawer.valid_from),
        "valid_to": instant(drawer.valid_to),
        "supersedes": list(drawer.supersedes),
        "superseded_by": list(drawer.superseded_by),
        "close_reason": drawer.close_reason,
        "created_at": instant(drawer.created_at),
        "closed_at": instant(drawer.closed_at),
    }


def preview_json(drawer: Drawer) -> Json:
    """A drawer whose content is only its beginning, under another name."""
    row = drawer_json(drawer)
    text = row.pop("content")
    return {**row, "title": drawer.title, "preview": text, "cut": len(text.encode()) < drawer.size}


def chain_json(hit: Hit) -> Json:
    return {
        "version": hit.version,
        "versions": hit.versions,
        "superseded_by": list(hit.drawer.superseded_by),
    }


def hit_json(hit: Hit) -> Json:
    """A hit: the drawer, and why it is here."""
    return {
        **drawer_json(hit.drawer),
        "score": hit.score,
        "signals": hit.signals,
        "via": list(hit.via),
        "ranks": {leg: signal["rank"] for leg, signal in hit.signals.items() if "rank" in signal},
        "highlights": [list(span) for span in hit.highlights],
        "chain": chain_json(hit),
    }


def answer_json(result: SearchResult, told: Iterable[Notice] = ()) -> Json:
    """One page of a search."""
    answer: Json = {
        "hits": [hit_json(hit) for hit in result.hits],
        "ranking": result.ranking,
        "total": result.total,
        "offset": result.offset,
        "seam": result.seam,
        "cursor": result.cursor,
        "notices": notices_json((*told, *result.notices)),
    }
    if result.facets:
        answer["facets"] = facets_json(result.facets)
    if result.timed_out:
        answer["timed_out"] = True
    return answer


def facets_json(facets: Mapping[str, Iterable[Facet]]) -> Json:
    return {name: [_facet(one) for one in listed] for name, listed in facets.items()}


def _facet(facet: Facet) -> Json:
    row: Json = {"value": facet.value, "count": facet.count}
    return row if facet.wing is None else {**row, "wing": facet.wing}


def notices_json(notices: Iterable[Notice]) -> list[Json]:
    """Each notice once, in order."""
    distinct = dict.fromkeys(notices)
    return [{"code": one.code, "message": one.message} for one in distinct]


def room_json(room: Room) -> Json:
    return {
        "wing": room.wing,
        "name": room.name,
        "description": room.description,
        "created_at": instant(room.created_at),
        "count": room.count,
    }


def wing_json(wing: Wing) -> Json:
    return {
        "name": wing.name,
        "description": wing.description,
        "created_at": instant(wing.created_at),
        "count": wing.count,
        "rooms": [room_json(room) for room in wing.rooms],
    }


def entity_json(entity: Entity) -> Json:
    return {
        "id": entity.id,
        "name": entity.name,
        "kind": entity.kind,
        "aliases": list(entity.aliases),
    }


def fact_json(fact: Fact) -> Json:
    return {
        "id": fact.id,
        "from": entity_json(fact.subject),
        "predicate": fact.predicate,
        "to": entity_json(fact.object),
        "confidence": fact.confidence,
        "valid_from": instant(fact.valid_from),
        "valid_to": instant(fact.valid_to),
    }


def state_of(drawer: Drawer, time: Temporal) -> str | None:
    """How a drawer stands at an instant: valid, future, ended, empty or unknown.

    None for a window or all of history, where there is no single instant to stand at.
    """
    if time.known_at is not None and drawer.created_at > time.known_at:
        return "unknown"
    if time.instant is None:
        return None
    return state_at(time.instant, drawer.valid_from, drawer.known_end(time.known_at))
