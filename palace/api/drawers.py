"""One drawer by id: itself, its history, its neighbours, and what replaces it."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from palace.api.access import writing
from palace.api.asking import PLACE, SCOPE, TIME, auth_of, described, read, service, unused
from palace.api.bodies import Supersession, moment
from palace.api.errors import invalid, not_found
from palace.api.serial import (
    Json,
    chain_json,
    drawer_json,
    entity_json,
    fact_json,
    instant,
    notices_json,
    preview_json,
    state_of,
)
from palace.curation import CurationService, Outcome
from palace.domain.errors import Notice
from palace.domain.records import Drawer, check_text
from palace.opening import curation
from palace.params import Asked
from palace.recall import RecallService
from palace.recall_paging import clamp_limit

router = Router(tags=["drawers"])
MOST_HISTORY_BYTES = 16 * 1024 * 1024


@router.get("/drawers/{name:ident}", openapi_extra=described(*TIME), operation_id="drawer")
def drawer(request: HttpRequest, ident: str) -> Json:
    """One drawer, whatever its validity; `state` says how it stands at the instant."""
    asked = read(request)
    palace = service(request)
    return one_json(palace, asked, found_drawer(palace, ident))


@router.get("/drawers/{name:ident}/history", openapi_extra=described(), operation_id="history")
def history(request: HttpRequest, ident: str) -> Json:
    """All versions oldest first, from any of them."""
    asked = read(request)
    palace = service(request)
    drawer = found_drawer(palace, ident)
    chain = palace.chain(drawer.id)
    told: tuple[Notice, ...] = ()
    if sum(version.size for version in chain.versions) <= MOST_HISTORY_BYTES:
        chain = palace.chain(drawer.id, content=True)
        versions = [drawer_json(version) for version in chain.versions]
    else:
        told = (_too_long(),)
        versions = [preview_json(version) for version in chain.versions]
    return {
        "drawer": drawer_json(drawer),
        "versions": versions,
        "missing": list(chain.missing),
        "truncated": chain.truncated,
        "notices": notices_json((*asked.notices, *told)),
    }


@router.get(
    "/drawers/{name:ident}/neighbours",
    openapi_extra=described("limit", *PLACE, *SCOPE, *TIME),
    operation_id="neighbours",
)
def neighbours(request: HttpRequest, ident: str) -> Json:
    """Drawers that mention what this one mentions, and the facts about it, at the instant."""
    asked = read(request)
    palace = service(request)
    drawer = found_drawer(palace, ident)
    limit, clamped = clamp_limit(asked.limit)
    mentioned = palace.mentioned(drawer.id)
    near = palace.near_by_entity(drawer.id, asked.scope, limit)
    facts = palace.facts_about(mentioned, asked.scope.time)
    return {
        "drawer": drawer.id,
        "neighbours": [
            {"kind": "entity", "names": list(names), "drawer": preview_json(one)}
            for one, names in near
        ],
        "entities": [entity_json(one) for one in mentioned],
        "facts": [fact_json(one) for one in facts],
        "notices": notices_json((*asked.notices, *clamped)),
    }


@router.post(
    "/drawers/{name:ident}/supersede",
    auth=writing,
    openapi_extra=described(),
    operation_id="supersede",
)
def supersede(request: HttpRequest, ident: str, body: Supersession) -> Json:
    """Replace a drawer; without `content` it ends unreplaced."""
    writes = curation().authorized(auth_of(request))
    found_drawer(service(request), ident)
    outcome = _replace(writes, ident, body) if body.content is not None else None
    outcome = outcome or _end(writes, ident, body)
    lost = unused("requested_by") if body.content is None and body.requested_by else ()
    return {
        "superseded": drawer_json(outcome.closed) if outcome.closed else None,
        "replacement": drawer_json(outcome.drawer) if outcome.created else None,
        "notices": notices_json((*body.notices(), *outcome.notices, *lost)),
    }


def found_drawer(palace: RecallService, ident: str) -> Drawer:
    """The drawer of an id, or a 404."""
    drawer = palace.get_by_id(check_text("id", ident))
    if drawer is None:
        raise not_found("drawer", ident)
    return drawer


def one_json(palace: RecallService, asked: Asked, drawer: Drawer) -> Json:
    """A drawer with its place in its chain, and how it stands at the asked instant."""
    hit = palace.hits([drawer])[0]
    return {
        **drawer_json(drawer),
        "updated_at": instant(palace.updated_at(drawer.id)),  # what `seen` is compared with
        "state": state_of(drawer, asked.scope.time),
        "chain": chain_json(hit),
        "notices": notices_json(asked.notices),
    }


def _replace(writes: CurationService, ident: str, body: Supersession) -> Outcome:
    return writes.supersede(
        ident,
        body.content or "",
        tags=body.tags,
        reason=_reason(body),
        at=moment("at", body.at),
        seen=moment("seen", body.seen),
        requested_by=body.requested_by,
    )


def _end(writes: CurationService, ident: str, body: Supersession) -> Outcome:
    if body.tags is not None:
        raise invalid("tags", "“tags” go with “content”.", "Send the content again with them.")
    at, seen = moment("at", body.at), moment("seen", body.seen)
    return writes.invalidate(ident, reason=_reason(body), at=at, seen=seen)


def _reason(body: Supersession) -> str | None:
    return check_text("reason", body.reason, 10_000) if body.reason else None


def _too_long() -> Notice:
    return Notice(
        "memcastle::input::clamped",
        "The versions hold more than 16 MiB: each comes as a bare record, without its text.",
    )
