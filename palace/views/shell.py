"""What all pages share: reading the question, and the frame around the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.encoding import escape_uri_path

from palace import opening
from palace.access import auth_context
from palace.domain.facets import relaxed
from palace.domain.query import Scope
from palace.params import Asked, as_lists, parse
from palace.recall import RecallService
from palace.recall_places import Palace
from palace.render.timebar import describe

FEW_ROOMS = 60  # with more rooms the tree opens only the wing that is looked at


def ask(
    request: HttpRequest, *, also: Iterable[str] = (), scope: Mapping[str, str] | None = None
) -> Asked:
    """The question of a request; raises InvalidInput."""
    now: int = request.palace_now  # type: ignore[attr-defined]
    return parse(as_lists(request.GET), now, also=also, scope=scope)


def service(request: HttpRequest) -> RecallService:
    """Reads in the name of the request."""
    return opening.recall().authorized(auth_context(request))


def render_page(
    request: HttpRequest,
    template: str,
    asked: Asked,
    context: dict[str, Any],
    *,
    bar_scope: Scope | None = None,
    status: int = 200,
) -> HttpResponse:
    """A page in its frame: tree, time bar, the strip of the past, notices.

    ``bar_scope`` is what the time bar draws and counts (default: the question's scope).
    """
    reads = service(request)
    scope = bar_scope or asked.scope
    palace = reads.palace(relaxed(asked.scope))
    frame = {
        "asked": asked,
        "palace": palace,
        "here_wing": scope.wing,
        "here_room": scope.room,
        "open_wings": _open_wings(palace, scope),
        "bar": describe(reads, asked, scope, escape_uri_path(request.path)),
        "has_provider": opening.embedder() is not None,
        "is_demo": opening.showing_demo(),
        "page_name": request.resolver_match.url_name if request.resolver_match else "",
    }
    return render(request, template, frame | context, status=status)


def _open_wings(palace: Palace, scope: Scope) -> set[str]:
    """Wings whose rooms the tree lists: all of a small palace, else the one looked at."""
    names = {wing.name for wing in palace.wings}
    if sum(len(wing.rooms) for wing in palace.wings) <= FEW_ROOMS:
        return names
    return names & {scope.wing or ""}
