"""Every failure under `/api/` as JSON: a sentence, a stable code, and what to do next."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from palace.domain.errors import InvalidInput, NotFound, PalaceError

logger = logging.getLogger(__name__)

_PLACES = frozenset({"body", "query", "path", "header", "payload"})


def error_response(error: PalaceError) -> JsonResponse:
    """The answer for a told error; ``parameter`` names the option at fault where there is one."""
    body = {"error": error.message, "code": error.code, "help": error.help}
    parameter = getattr(error, "parameter", None)
    if parameter:
        body["parameter"] = parameter
    return JsonResponse(body, status=error.status)


def invalid(parameter: str, message: str, help: str = "") -> InvalidInput:
    """An InvalidInput that names the option at fault."""
    error = InvalidInput(message, help=help)
    error.parameter = parameter  # type: ignore[attr-defined]
    return error


def not_found(what: str, name: str) -> NotFound:
    """The 404 of a wing, a room or a drawer."""
    return NotFound(
        f"There is no {what} “{name[:200]}” in this palace.",
        code=f"memcastle::palace::{what}_not_found",
        help="List the wings, or search for the words it holds.",
    )


def no_route(path: str) -> PalaceError:
    """The 404 of an address that names no route."""
    return PalaceError(
        f"There is no route {path[:200]}.",
        code="memcastle::app::not_found",
        help="See /api/docs for all routes.",
        status=404,
    )


def install(api: NinjaAPI) -> None:
    """Make an API answer every failure in this shape."""
    handlers: dict[type[Exception], Any] = {
        PalaceError: _told,
        ValidationError: _invalid_body,
        HttpError: _refused,
        RequestDataTooBig: _too_big,
        Http404: _no_route,
        Exception: _unexpected,
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)


def _told(request: HttpRequest, error: PalaceError) -> HttpResponse:
    return error_response(error)


def _invalid_body(request: HttpRequest, error: ValidationError) -> HttpResponse:
    first: dict[str, Any] = error.errors[0] if error.errors else {}
    option = _option(first.get("loc", ()))
    reason = str(first.get("msg", "not valid")).removeprefix("Value error, ")
    return error_response(invalid(option, f"“{option}”: {reason}.", "See /api/docs for its form."))


def _option(location: Sequence[object]) -> str:
    parts = [str(part) for part in location if part not in _PLACES]
    return ".".join(parts)[:200] or "body"


def _refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    if error.status_code == 400:
        return error_response(invalid("body", "The body is not JSON.", "Send one JSON object."))
    return error_response(PalaceError(error.message, status=error.status_code))


def _too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    told = invalid("body", "The body is too large.", "A drawer holds at most 4 MiB of text.")
    told.status = 413
    return error_response(told)


def _no_route(request: HttpRequest, error: Http404) -> HttpResponse:
    return error_response(no_route(request.path))


def _unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("%s %s failed", request.method, request.path, exc_info=error)
    help = "The log of the server says more; try again, or report it."
    return error_response(PalaceError("Something failed that should not.", help=help))
