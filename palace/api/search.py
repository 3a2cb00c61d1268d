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
from palace.domain.errors import InvalidInput
from palace.domain.results import SearchMode
from palace.params import Asked, as_lists

router = Router(tags=["search"])
_DESCRIBED = described("q", *PLACE, *SCOPE, "ranking", *TIME, *PAGE, "facets")
_PROMISES = (SearchMode.SEMANTIC, SearchMode.HYBRID)


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
    if body.query_embedding is not None:
        raise _no_vectors("A query vector was given")
    return answer(request, search_lists(body))


def answer(request: HttpRequest, lists: Lists) -> Json:
    """One page of hits for parameters, whichever way they came."""
    asked = read_lists(lists, request)
    if asked.ranking in _PROMISES:
        raise _no_vectors(f"Ranking “{asked.ranking}” was asked")
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
        )
    return answer_json(result, (*asked.notices, *unused(*_without_effect(asked))))


def _without_effect(asked: Asked) -> list[str]:
    given = {"expand": bool(asked.expand), "explain": asked.explain, "degrade": asked.degrade}
    return [name for name, is_given in given.items() if is_given]


def _no_vectors(what: str) -> InvalidInput:
    return InvalidInput(
        f"{what}, and this palace has no embeddings.",
        code="memcastle::search::semantic_unavailable",
        help="Use ranking=lexical or auto, without a vector.",
    )
