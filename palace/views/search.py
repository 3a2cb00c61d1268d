"""Search and browse: one question, its answer, and the alternatives of its filters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from palace import opening
from palace.domain.errors import InvalidInput
from palace.domain.query import Scope
from palace.domain.results import Facet, SearchResult
from palace.domain.time import Temporal
from palace.params import Asked
from palace.render.snippets import rows
from palace.render.timebar import address
from palace.views.shell import ask, render_page, service

PAGE = 20
SHOWN_FACETS = 12
_SINGLE = ("wing", "room", "source_kind", "project", "branch", "path", "agent", "stale")
_SOURCE = ("project", "branch", "path", "agent", "stale")
_WORDS = {
    "wing": "Wing",
    "room": "Room",
    "source_kind": "Kind",
    "project": "Project",
    "branch": "Branch",
    "path": "Path",
    "agent": "By",
    "stale": "Stale",
    "tag": "Tag",
    "entity": "Mentions",
}


@dataclass(frozen=True)
class Choice:
    """One alternative of a filter: its words, its number, the address that chooses it."""

    words: str
    count: int
    url: str
    is_on: bool = False
    wing: str | None = None


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """The answer to a query; an empty one lists newest first."""
    try:
        asked = ask(request)
    except InvalidInput as error:
        return _not_understood(request, error)
    reads = service(request)
    limit = asked.limit if "limit" in request.GET else PAGE
    try:
        if asked.is_browse:
            found = reads.list_all_with_content(
                asked.scope, limit, asked.cursor, facets=True, preview=True
            )
        else:
            found = reads.search(
                asked.q,
                ranking=asked.ranking,
                filter=asked.scope,
                limit=limit,
                cursor=asked.cursor,
                facets=True,
                degrade=asked.degrade,
            )
    except InvalidInput as error:
        return _not_understood(request, error)
    told = replace(asked, notices=asked.notices + found.notices)
    return render_page(request, "palace/search.html", told, _answer(asked, found))


def _answer(asked: Asked, found: SearchResult) -> dict[str, Any]:
    before = found.offset
    listed = rows(found.hits, asked.scope.time, asked.now)
    seam = None if found.seam is None else found.seam - before
    return {
        "result": found,
        "with_all": listed[: max(0, seam)] if seam is not None else listed,
        "with_any": listed[max(0, seam) :] if seam is not None else [],
        "first_number": before + 1,
        "last_number": before + len(listed),
        "facets": _facets(asked, found),
        "chosen": _chosen(asked),
        "rankings": _rankings(asked, found) if opening.embedder() is not None else [],
        "kept": [(name, one) for name, one in asked.pairs() if name not in _SOURCE],
        "older": _to(asked.query(cursor=found.cursor)) if found.cursor else None,
        "newest": _to(asked.query()) if asked.cursor else None,
        "is_browse": asked.is_browse,
        "q": "" if asked.is_browse else asked.q,
        "everything": _to(asked.query(drop=(*_SINGLE, "tag", "entity", "entity_match"))),
        "in_history": _to(asked.query(history="1")),
    }


def _rankings(asked: Asked, found: SearchResult) -> list[Choice]:
    """The rankings to choose from, the one that answered marked."""
    return [
        Choice(words, 0, _to(asked.query(ranking=name)), found.ranking == name)
        for words, name in (("both", "hybrid"), ("words", "lexical"), ("meaning", "semantic"))
    ]


def _to(query: str) -> str:
    return address(reverse("search"), query)


def _chosen(asked: Asked) -> list[tuple[str, str, str]]:
    """The filters in force, each with the address without it."""
    scope = asked.scope
    kept = [
        (_WORDS[name], value, _to(asked.query(drop=(name,))))
        for name in _SINGLE
        if (value := getattr(scope, name)) and not (name == "stale" and value == "hide")
    ]
    for name, values in (("tag", scope.tags), ("entity", scope.entities)):
        for value in values:
            others = [one for one in values if one != value]
            kept.append((_WORDS[name], value, _to(asked.query(**{name: others}))))
    return kept


def _facets(asked: Asked, found: SearchResult) -> list[tuple[str, list[Choice], list[Choice]]]:
    """Per filter its words, the alternatives shown, and those behind "more"."""
    groups = []
    for name in ("wing", "room", "source_kind", "tag", "project", "branch"):
        listed = [_choice(asked, name, one) for one in found.facets.get(name, ())]
        listed = sorted(listed, key=lambda one: not one.is_on)
        if len(listed) > 1 or any(one.is_on for one in listed):
            groups.append((_WORDS[name], listed[:SHOWN_FACETS], listed[SHOWN_FACETS:]))
    return groups


def _choice(asked: Asked, name: str, facet: Facet) -> Choice:
    scope = asked.scope
    if name == "tag":
        is_on = facet.value in scope.tags
        others = [tag for tag in scope.tags if tag != facet.value]
        changes: dict[str, Any] = {"tag": others if is_on else [*scope.tags, facet.value]}
    elif name == "room":
        is_on = scope.room == facet.value and scope.wing in (None, facet.wing)
        changes = {"room": None if is_on else facet.value}
        if not is_on:
            changes["wing"] = facet.wing
    else:
        is_on = getattr(scope, name) == facet.value
        changes = {name: None if is_on else facet.value}
        if name == "wing":
            changes["room"] = None
    return Choice(facet.value, facet.count, _to(asked.query(**changes)), is_on, facet.wing)


def _not_understood(request: HttpRequest, error: InvalidInput) -> HttpResponse:
    """The form as it was typed, what is wrong with it, and no results."""
    now: int = request.palace_now  # type: ignore[attr-defined]
    asked = Asked(
        Scope(Temporal.as_of(now), asked_at=now), now, q=request.GET.get("q", "")[:10_000]
    )
    context = {
        "problem": error,
        "typed": {name: request.GET.get(name, "") for name in ("as_of", "from", "until")},
        "q": asked.q,
        "facets": [],
        "chosen": [],
    }
    return render_page(request, "palace/search.html", asked, context, status=400)
