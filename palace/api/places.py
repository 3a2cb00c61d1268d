"""Wings and rooms, and the drawers in a room."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from palace.api.access import writing
from palace.api.asking import PAGE, SCOPE, TIME, auth_of, described, read, service, unused
from palace.api.bodies import NewPlace, NewText, moment
from palace.api.drawers import one_json
from palace.api.errors import not_found
from palace.api.serial import (
    Json,
    drawer_json,
    notices_json,
    preview_json,
    room_json,
    wing_json,
)
from palace.curation import CurationService, NewDrawer, Outcome
from palace.domain.errors import Notice
from palace.domain.records import Wing, check_text
from palace.opening import curation
from palace.params import Asked
from palace.recall import RecallService

router = Router(tags=["places"])
MOST_DESCRIPTION = 10_000
ROOM_LIMIT = 50
_TREE = described(*SCOPE, *TIME)
_CREATED = {200: dict[str, Any], 201: dict[str, Any]}


@router.get("/wings", openapi_extra=_TREE, operation_id="wings")
def wings(request: HttpRequest) -> Json:
    """All wings with their rooms, and how many drawers each holds at the instant."""
    asked = read(request)
    palace = service(request).palace(asked.scope)
    return {
        "wings": [wing_json(one) for one in palace.wings],
        "total": len(palace.wings),
        "drawers": palace.total,
        "notices": notices_json(asked.notices),
    }


@router.get("/wings/{name:wing}", openapi_extra=_TREE, operation_id="wing")
def wing(request: HttpRequest, wing: str) -> Json:
    """One wing with its rooms and counts."""
    asked = read(request)
    found = _counted(service(request), asked, wing)
    return {**wing_json(found), "notices": notices_json(asked.notices)}


@router.get("/wings/{name:wing}/rooms", openapi_extra=_TREE, operation_id="rooms")
def rooms(request: HttpRequest, wing: str) -> Json:
    """The rooms of a wing with counts."""
    asked = read(request)
    found = _counted(service(request), asked, wing)
    return {
        "wing": found.name,
        "rooms": [room_json(room) for room in found.rooms],
        "total": len(found.rooms),
        "drawers": found.count,
        "notices": notices_json(asked.notices),
    }


@router.get("/wings/{name:wing}/rooms/{name:room}", openapi_extra=_TREE, operation_id="room")
def room(request: HttpRequest, wing: str, room: str) -> Json:
    """One room and its count."""
    asked = read(request)
    found = _counted(service(request), asked, wing)
    match = next((one for one in found.rooms if one.name == room), None)
    if match is None:
        raise not_found("room", room)
    return {**room_json(match), "notices": notices_json(asked.notices)}


@router.post(
    "/wings",
    auth=writing,
    response=_CREATED,
    openapi_extra=described(),
    operation_id="create_wing",
)
def create_wing(request: HttpRequest, body: NewPlace) -> Status[Json]:
    """Create a wing, or find it: 201 or 200."""
    writes = _writes(request)
    created = writes.ensure_wing(body.name, _description(body))
    found = service(request).wing(body.name)
    wing = wing_json(found) if found else {"name": body.name}
    answer = {"wing": wing, "created": created, "notices": notices_json(body.notices())}
    return Status(201 if created else 200, answer)


@router.post(
    "/wings/{name:wing}/rooms",
    auth=writing,
    response=_CREATED,
    openapi_extra=described(),
    operation_id="create_room",
)
def create_room(request: HttpRequest, wing: str, body: NewPlace) -> Status[Json]:
    """Create a room and its wing, or find it: 201 or 200."""
    writes = _writes(request)
    created = writes.ensure_room(wing, body.name, _description(body))
    found = service(request).room(wing, body.name)
    room = room_json(found) if found else {"wing": wing, "name": body.name}
    answer = {"room": room, "created": created, "notices": notices_json(body.notices())}
    return Status(201 if created else 200, answer)


@router.get(
    "/wings/{name:wing}/rooms/{name:room}/drawers",
    openapi_extra=described(*PAGE, *SCOPE, *TIME),
    operation_id="room_drawers",
)
def room_drawers(request: HttpRequest, wing: str, room: str) -> Json:
    """The newest drawers of a room, each with its beginning."""
    asked = read(request, place={"wing": wing, "room": room}, limit=ROOM_LIMIT)
    palace = service(request)
    _check_room(palace, wing, room)
    page = palace.list_all_with_content(asked.scope, asked.limit, asked.cursor, preview=True)
    told = (*asked.notices, *page.notices, *(unused("q") if asked.q else ()))
    return {
        "drawers": [preview_json(hit.drawer) for hit in page.hits],
        "total": page.total,
        "cursor": page.cursor,
        "notices": notices_json(told),
    }


@router.post(
    "/wings/{name:wing}/rooms/{name:room}/drawers",
    auth=writing,
    response=_CREATED,
    openapi_extra=described(),
    operation_id="file_drawer",
)
def file_drawer(request: HttpRequest, wing: str, room: str, body: NewText) -> Status[Json]:
    """File a drawer: 201, or 200 when the room holds the same unnamed text already."""
    wanted = NewDrawer(
        wing=wing,
        room=room,
        content=body.content,
        name=body.name,
        tags=body.tags,
        source=body.source or {"kind": "manual"},
        valid_from=moment("valid_from", body.valid_from),
        requested_by=body.requested_by,
    )
    outcome = _writes(request).file_drawer(wanted)
    told = (*body.notices(), *outcome.notices, *_new_place(service(request), outcome))
    answer = {
        "drawer": drawer_json(outcome.drawer),
        "created": outcome.created,
        "notices": notices_json(told),
    }
    return Status(201 if outcome.created else 200, answer)


@router.get(
    "/wings/{name:wing}/rooms/{name:room}/drawers/{name:name}",
    openapi_extra=described(*TIME),
    operation_id="drawer_by_name",
)
def drawer_by_name(request: HttpRequest, wing: str, room: str, name: str) -> Json:
    """Who held a name in this room at the instant; else the drawer of that id in it."""
    asked = read(request, place={"wing": wing, "room": room})
    palace = service(request)
    _check_room(palace, wing, room)
    drawer = palace.get_by_name(asked.scope, check_text("name", name))
    if drawer is None:
        drawer = palace.get_by_id(name)
    if drawer is None or (drawer.wing, drawer.room) != (wing, room):
        raise not_found("drawer", name)
    return one_json(palace, asked, drawer)


def _counted(palace: RecallService, asked: Asked, name: str) -> Wing:
    found = next((one for one in palace.palace(asked.scope).wings if one.name == name), None)
    if found is None:
        raise not_found("wing", name)
    return found


def _check_room(palace: RecallService, wing: str, room: str) -> None:
    if palace.wing(wing) is None:
        raise not_found("wing", wing)
    if palace.room(wing, room) is None:
        raise not_found("room", room)


def _writes(request: HttpRequest) -> CurationService:
    """Writes of new things: they make your palace, and never go into the demo."""
    return curation(for_new=True).authorized(auth_of(request))


def _description(body: NewPlace) -> str | None:
    if body.description is None:
        return None
    return check_text("description", body.description, MOST_DESCRIPTION)


def _new_place(palace: RecallService, outcome: Outcome) -> tuple[Notice, ...]:
    """Told when filing made the room: it may be a slip of the pen."""
    drawer = outcome.drawer
    found = palace.room(drawer.wing, drawer.room)
    if not outcome.created or found is None or found.created_at != drawer.created_at:
        return ()
    message = f"The room “{drawer.room}” in the wing “{drawer.wing}” is new."
    return (Notice("memcastle::palace::room_created", message),)
