"""Pages for what went wrong: what it is, what is allowed, and the ways on."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from palace.domain.errors import PalaceError

_TITLES = {
    400: "That cannot be asked",
    403: "Not allowed",
    404: "Nothing here",
    409: "Something changed meanwhile",
    503: "The palace cannot be opened",
    504: "Too slow to answer",
}


def told_error(request: HttpRequest, error: PalaceError) -> HttpResponse:
    """The page of a told error, with its code and help."""
    context = {
        "title": _TITLES.get(error.status, "Something went wrong"),
        "message": error.message,
        "help": error.help,
        "code": error.code,
    }
    return render(request, "palace/error.html", context, status=error.status)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """An address that names no page."""
    return told_error(
        request,
        PalaceError(
            f"There is no page at {request.path[:200]}.",
            code="memcastle::app::not_found",
            help="Start at the overview, or search.",
            status=404,
        ),
    )


def failed(request: HttpRequest) -> HttpResponse:
    """What nobody foresaw."""
    help = "Try again. The server's log says more."
    return told_error(request, PalaceError("The server failed at this.", help=help))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """A form that was not ours, or a missing right."""
    return told_error(
        request,
        PalaceError(
            "This was refused.",
            code="memcastle::auth::forbidden",
            help="Go back, reload the page and try again.",
            status=403,
        ),
    )


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """A request that cannot be read."""
    return told_error(
        request,
        PalaceError(
            "The request cannot be read.",
            code="memcastle::input::invalid",
            help="Check the address; the host must be one of MEMCASTLE_ALLOWED_HOSTS.",
            status=400,
        ),
    )
