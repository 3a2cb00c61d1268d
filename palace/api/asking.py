"""Reading what a call asks, through the one parser, and describing it for OpenAPI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest

from palace.domain.errors import Notice
from palace.domain.query import STALE_CHOICES
from palace.domain.records import SOURCE_KINDS
from palace.domain.results import AuthContext, SearchMode
from palace.opening import clock, recall
from palace.params import Asked, as_lists, parse
from palace.recall import RecallService

Lists = Mapping[str, Sequence[str]]

_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}
_WHOLE: dict[str, Any] = {"type": "integer"}

_DESCRIBED: dict[str, tuple[dict[str, Any], str]] = {
    "q": (_TEXT, "Words to look for; empty or `*` lists newest first."),
    "wing": (_TEXT, "Only this wing."),
    "room": (_TEXT, "Only rooms of this name."),
    "tag": ({"type": "array", "items": _TEXT}, "All of these tags; repeatable."),
    "tags": (_TEXT, "All of these tags, as a comma list."),
    "source_kind": ({"type": "string", "enum": list(SOURCE_KINDS)}, "Only this kind of source."),
    "project": (_TEXT, "Only sources of this project."),
    "branch": (_TEXT, "Only sources of this branch."),
    "path": (_TEXT, "Only this path of the source, or what lies below it."),
    "agent": (_TEXT, "Only sources of this agent."),
    "stale": ({"type": "string", "enum": list(STALE_CHOICES)}, "Drawers of branches now gone."),
    "entity": ({"type": "array", "items": _TEXT}, "Mentions these names; repeatable."),
    "entity_match": ({"type": "string", "enum": ["any", "all"]}, "Any or all of the entities."),
    "ranking": ({"type": "string", "enum": [mode.value for mode in SearchMode]}, "How to rank."),
    "as_of": (_TEXT, "What was valid at this instant: RFC 3339 or YYYY-MM-DD; default now."),
    "from": (_TEXT, "With `until`: what was valid at some time in the window."),
    "until": (_TEXT, "The end of the window, exclusive."),
    "history": (_FLAG, "All of time."),
    "known_at": (_TEXT, "Only what was recorded by this instant."),
    "limit": (_WHOLE, "How many, 1 to 200."),
    "cursor": (_TEXT, "Where the next page begins: `cursor` of the answer before."),
    "facets": (_FLAG, "Count each filter's alternatives too."),
    "bucket": (_TEXT, "Width of a bucket."),
}
TIME = ("as_of", "from", "until", "history", "known_at")
SCOPE = (
    "tag",
    "tags",
    "source_kind",
    "project",
    "branch",
    "path",
    "agent",
    "stale",
    "entity",
    "entity_match",
)
PLACE = ("wing", "room")
PAGE = ("limit", "cursor")

_ERROR = {
    "type": "object",
    "required": ["error", "code", "help"],
    "properties": {name: {"type": "string"} for name in ("error", "code", "help", "parameter")},
}
_REFUSED = {
    "description": "Refused or failed: a sentence, a stable code, what to do next.",
    "content": {"application/json": {"schema": _ERROR}},
}


def described(*names: str) -> dict[str, Any]:
    """The OpenAPI part of an operation: its query parameters and the shape of its errors."""
    parameters = [
        {"name": name, "in": "query", "required": False, "schema": schema, "description": told}
        for name in names
        for schema, told in [_DESCRIBED[name]]
    ]
    return {"parameters": parameters, "responses": {"default": _REFUSED}}


def now_of(request: HttpRequest) -> int:
    """The request's clock, read once."""
    now: int = getattr(request, "palace_now", None) or clock()
    return now


def auth_of(request: HttpRequest) -> AuthContext:
    """What the access check of the route found."""
    auth: AuthContext = request.auth  # type: ignore[attr-defined]
    return auth


def read(
    request: HttpRequest,
    *,
    place: Mapping[str, str] | None = None,
    also: Iterable[str] = (),
    limit: int | None = None,
) -> Asked:
    """What the query string asks. ``place`` is fixed by the path, ``limit`` the route's default."""
    return read_lists(as_lists(request.GET), request, place=place, also=also, limit=limit)


def read_lists(
    lists: Lists,
    request: HttpRequest,
    *,
    place: Mapping[str, str] | None = None,
    also: Iterable[str] = (),
    limit: int | None = None,
) -> Asked:
    """The same of parameters that came another way."""
    given = dict(lists)
    if limit is not None and not any(value.strip() for value in given.get("limit", ())):
        given["limit"] = [str(limit)]
    return parse(given, now_of(request), also=also, scope=place)


def service(request: HttpRequest) -> RecallService:
    """Reads in the name of the caller."""
    return recall().authorized(auth_of(request))


def unused(*names: str) -> tuple[Notice, ...]:
    """Notices for options that were understood and have no effect here."""
    return tuple(
        Notice("memcastle::input::unused", f"The option “{name}” has no effect here.")
        for name in names
    )
