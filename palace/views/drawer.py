"""One drawer: the text, where it stands in time, and what lies around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from palace.access import auth_context
from palace.domain.errors import NotFound, Notice
from palace.domain.query import Scope
from palace.domain.records import Drawer
from palace.domain.time import print_instant, print_short
from palace.opening import recall
from palace.params import Asked
from palace.recall import RecallService
from palace.render.markdown import MOST_CHARS, QUICK_CHARS, read
from palace.render.strip import strip
from palace.render.validity import Standing, lag_words, span_words, validity
from palace.views.shell import ask, render_page

Versions = Sequence[Drawer]
VIEWS = ("rendered", "raw")
NEAR, SPARE = 8, 8  # as many more are asked for, since versions of this drawer are left out
_FIRST_KEYS = ("kind", "agent", "project", "branch", "path", "uri")
_FILTERS = {"kind": "source_kind", "project": "project", "branch": "branch", "agent": "agent"}


@require_safe
def drawer(request: HttpRequest, ident: str) -> HttpResponse:
    """The page of one drawer, whatever the instant: it says in words how it stands to it."""
    asked, chosen = _chosen(request)
    reads = recall().authorized(auth_context(request))
    found = require_drawer(reads, ident)
    chain = reads.chain(found.id)
    context = (
        _text(found, chosen)
        | _around_in_time(found, chain.versions, asked)
        | _around_in_meaning(reads, found, chain.versions, asked)
        | {
            "chain": chain,
            "drawer": found,
            "tags": _links(asked, (("tag", tag) for tag in found.tags)),
            "source": _described(found.source, asked),
            "provenance": _described(found.provenance, None),
            "machine": _machine(found),
            "now": asked.now,
            "may_write": request.user.is_staff
            and found.valid_to is None
            and not found.superseded_by,
        }
        | _ways(found, asked)
    )
    place = Scope(asked.scope.time, wing=found.wing, room=found.room, asked_at=asked.now)
    return render_page(request, "palace/drawer.html", asked, context, bar_scope=place)


def require_drawer(reads: RecallService, ident: str) -> Drawer:
    """The drawer of an id; NotFound tells what to do."""
    found = reads.get_by_id(ident)
    if found is None:
        raise NotFound(
            f"There is no drawer “{ident[:200]}”.",
            help="Check the address, or search for it by its words.",
        )
    return found


def _chosen(request: HttpRequest) -> tuple[Asked, str]:
    """What is asked, and which view of the text; empty means the one that suits its length."""
    asked = ask(request, also=("view",))
    chosen = request.GET.get("view", "")
    if chosen in ("", *VIEWS):
        return asked, chosen
    told = Notice("memcastle::input::unknown", f"There is no view “{chosen[:80]}” of a text.")
    return replace(asked, notices=(*asked.notices, told)), ""


def _text(found: Drawer, chosen: str) -> dict[str, Any]:
    """The text as Markdown or as written; a long one is rendered only when asked for."""
    length = len(found.content)
    too_long = length > MOST_CHARS
    raw = chosen == "raw" or too_long or (length > QUICK_CHARS and chosen != "rendered")
    return {
        "reading": None if raw else read(found.content),
        "is_raw": raw,
        "is_long": raw and chosen != "raw",
        "is_too_long": too_long,
        "lines": found.content.count("\n") + 1,
        "has_crlf": "\r\n" in found.content,
    }


def _ways(found: Drawer, asked: Asked) -> dict[str, str]:
    """Query strings of this very page: other views of it, other times."""
    return {
        "view_raw": asked.query(view="raw"),
        "view_rendered": asked.query(view="rendered"),
        "known_now": asked.query(drop=["known_at"]),
        "at_begin": asked.query(as_of=print_short(found.valid_from)),
    }


def _machine(found: Drawer) -> dict[str, str]:
    """Its instants as programs read them."""
    names = ("valid_from", "valid_to", "created_at", "closed_at")
    given = [(name, getattr(found, name)) for name in names]
    return {name: print_instant(value) for name, value in given if value is not None}


def _around_in_time(found: Drawer, versions: Versions, asked: Asked) -> dict[str, Any]:
    time, now = asked.scope.time, asked.now
    place = next(i for i, one in enumerate(versions) if one.id == found.id)
    standing = validity(found, time, now)
    ended = found.valid_to
    return {
        "standing": standing,
        "version": place + 1,
        "older": versions[place - 1] if place else None,
        "newer": versions[place + 1] if place + 1 < len(versions) else None,
        "strip": strip(versions, found.id, time.instant, now),
        "true_then": _true_then(versions, standing.standing, asked),
        "lasted": span_words(ended - found.valid_from)
        if ended and ended > found.valid_from
        else "",
        "lag": lag_words(found.valid_from, found.created_at),
        "closing_lag": lag_words(ended, found.closed_at) if ended and found.closed_at else None,
    }


def _true_then(versions: Iterable[Drawer], standing: Standing, asked: Asked) -> Drawer | None:
    """The version that is true at the asked time when this one is not."""
    if standing is Standing.TRUE:
        return None
    at = asked.scope.time
    return next(
        (one for one in versions if validity(one, at, asked.now).standing is Standing.TRUE), None
    )


def _around_in_meaning(
    reads: RecallService, found: Drawer, versions: Versions, asked: Asked
) -> dict[str, Any]:
    """Entities, facts and near drawers; its own other versions are no neighbours."""
    entities = reads.mentioned(found.id)
    time = asked.scope.time
    within = Scope(time, asked_at=asked.now)
    own = {one.id for one in versions}
    near = reads.near_by_entity(found.id, within, NEAR + SPARE) if entities else []
    return {
        "entities": [(one, _link(asked, "entity", one.name)) for one in entities],
        "facts": reads.facts_about(entities, time),
        "near": [pair for pair in near if pair[0].id not in own][:NEAR],
    }


def _described(values: dict[str, Any], asked: Asked | None) -> list[tuple[str, str, str | None]]:
    """Pairs of a record, the known ones first, with a link to what shares them."""
    order = [name for name in _FIRST_KEYS if name in values]
    order += [name for name in values if name not in _FIRST_KEYS]
    rows = []
    for name in order:
        value = values[name]
        if value in (None, "", [], {}):
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        link = _link(asked, _FILTERS[name], text) if asked and name in _FILTERS else None
        rows.append((name.replace("_", " "), text, link))
    return rows


def _links(asked: Asked, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(value, _link(asked, name, value)) for name, value in pairs]


def _link(asked: Asked, name: str, value: str) -> str:
    """A search for one value, at the asked time."""
    return f"{reverse('search')}?{urlencode([(name, value), *asked.time_given])}"
