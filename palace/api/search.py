"""Search: the same question as a query string or as JSON."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router

from palace.api.asking import (
    PAGE,
    PLACE,
    SCOPE,
    TIME,
    Lists,
    described,
    read_lists,
    service,
    unused,
)
from palace.api.bodies import SearchBody, search_lists
from palace.api.serial import Json, answer_json
from palace.params import Asked, as_lists

router = Router(tags=["search"])
_DESCRIBED = described("q", *PLACE, *SCOPE, "ranking", *TIME, *PAGE, "facets")


@router.get("/search", openapi_extra=_DESCRIBED, operation_id="search")
def search(request: HttpRequest) -> Json:
    """Search, best first; an empty query lists newest first."""
    return answer(request, as_lists(request.GET))


@router.get("/recall", openapi_extra=_DESCRIBED, operation_id="recall")
def recall(request: HttpRequest) -> Json:
    """The same as search."""
    return answer(request, as_lists(request.GET))


@router.post("/search", openapi_extra=described(), operation_id="search_by_body")
def search_by_body(request: HttpRequest, body: SearchBody) -> Json:
    """Search with a JSON body, the only way to bring a vector."""
    return _by_body(request, body)


@router.post("/recall", openapi_extra=described(), operation_id="recall_by_body")
def recall_by_body(request: HttpRequest, body: SearchBody) -> Json:
    """The same as search with a JSON body."""
    return _by_body(request, body)


def _by_body(request: HttpRequest, body: SearchBody) -> Json:
    return answer(request, search_lists(body), body)


def answer(request: HttpRequest, lists: Lists, body: SearchBody | None = None) -> Json:
    """One page of hits for parameters, whichever way they came."""
    asked = read_lists(lists, request)
    palace = service(request)
    if asked.is_browse:
        result = palace.list_all_with_content(
            asked.scope, asked.limit, asked.cursor, facets=asked.facets
        )
    else:
        result = palace.search(
            asked.q,
            ranking=asked.ranking,
            filter=asked.scope,
            limit=asked.limit,
            cursor=asked.cursor,
            facets=asked.facets,
            degrade=asked.degrade,
            query_embedding=body.query_embedding if body else None,
            embedding_model=body.embedding_model if body else None,
        )
    return answer_json(result, (*asked.notices, *unused(*_without_effect(asked))))


def _without_effect(asked: Asked) -> list[str]:
    given = {"expand": bool(asked.expand), "explain": asked.explain}
    return [name for name, is_given in given.items() if is_given]
