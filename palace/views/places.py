"""A wing and a room: newest first, by keyset."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.utils.encoding import escape_uri_path
from django.views.decorators.http import require_safe

from palace.domain.errors import NotFound
from palace.render.snippets import rows
from palace.render.timebar import address
from palace.views.shell import ask, render_page, service

PAGE = 30


@require_safe
def wing(request: HttpRequest, wing: str) -> HttpResponse:
    """A wing with its rooms and its newest memories."""
    found = service(request).wing(wing)
    if found is None:
        raise _missing("wing", wing)
    context = {"wing": found, "title": found.name, "description": found.description}
    return _listing(request, {"wing": wing}, context)


@require_safe
def room(request: HttpRequest, wing: str, room: str) -> HttpResponse:
    """A room with its memories."""
    reads = service(request)
    if reads.wing(wing) is None:
        raise _missing("wing", wing)
    found = reads.room(wing, room)
    if found is None:
        raise _missing("room", room)
    context = {"room": found, "title": found.name, "description": found.description}
    return _listing(request, {"wing": wing, "room": room}, context)


def _listing(
    request: HttpRequest, place: dict[str, str], context: dict[str, object]
) -> HttpResponse:
    asked = ask(request, scope=place)
    limit = asked.limit if "limit" in request.GET else PAGE
    found = service(request).list_all_with_content(asked.scope, limit, asked.cursor, preview=True)
    told = replace(asked, notices=asked.notices + found.notices)
    path = escape_uri_path(request.path)
    page = {
        "result": found,
        "rows": rows(found.hits, asked.scope.time, asked.now),
        "older": address(path, asked.query(cursor=found.cursor)) if found.cursor else None,
        "newest": address(path, asked.query()) if asked.cursor else None,
    }
    return render_page(request, "palace/place.html", told, context | page)


def _missing(what: str, name: str) -> NotFound:
    return NotFound(
        f"There is no {what} “{name[:200]}” in this palace.",
        code=f"memcastle::palace::{what}_not_found",
        help="Choose one from the overview, or search.",
    )
