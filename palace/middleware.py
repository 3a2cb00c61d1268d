"""What surrounds every request: its clock, its permissions, told errors, the time bar's slides."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from django_htmx.http import HttpResponseClientRedirect, replace_url

from palace import opening, serving
from palace.access import auth_context, refuse_by_mode
from palace.api.errors import error_response
from palace.domain.errors import InvalidInput, PalaceError
from palace.domain.time import MAX_INSTANT, MIN_INSTANT, SECOND, print_short
from palace.views.errors import told_error

Next = Callable[[HttpRequest], HttpResponseBase]
MAX_URL = 65_536
_OPEN = ("/admin/", "/static/", "/health/", "/api/health", "/favicon.ico")
_SAFE = ("GET", "HEAD", "OPTIONS")
_TIMES = ("t", "t_now", "as_of", "from", "until", "history", "include_historical", "cursor")


class LongUrlMiddleware:
    """Addresses above 64 kB: a page that says so (the server itself sets no limit)."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if len(request.get_full_path()) <= MAX_URL:
            return self.get_response(request)
        if request.path.startswith("/api/"):
            return error_response(_too_long())
        return render(request, "palace/too_long.html", status=414)


class PalaceMiddleware:
    """One clock per request, the memory mode, anonymous reading, and errors as pages or JSON."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.palace_now = opening.clock()  # type: ignore[attr-defined]
        if serving.announce_once(request):
            opening.start_serving()
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        try:
            slide = _slide(request)
        except PalaceError as error:
            return _answer(request, error)
        if isinstance(slide, HttpResponse):
            return slide
        response = self.get_response(request)
        if slide:
            replace_url(response, slide)
        patch_vary_headers(response, ["HX-Request"])
        return response

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Told errors become a page or JSON; all others go on to Django's handler."""
        return _answer(request, exception) if isinstance(exception, PalaceError) else None

    def _refusal(self, request: HttpRequest) -> HttpResponseBase | None:
        if request.path.startswith(_OPEN):
            return None
        # Routes say themselves what they write: POST /api/search only reads.
        writes = request.method not in _SAFE and not request.path.startswith("/api/")
        try:
            refuse_by_mode(request, writes=writes)
            readable = "view" in auth_context(request).permissions
        except PalaceError as error:
            return _answer(request, error)
        if readable or request.path == "/api/import":
            return None
        return _sign_in(request)


def _too_long() -> PalaceError:
    return PalaceError(
        "Addresses hold at most 64 kB.",
        code="memcastle::input::too_long",
        help="Send long queries as JSON: POST /api/search.",
        status=414,
    )


def _answer(request: HttpRequest, error: PalaceError) -> HttpResponseBase:
    if request.path.startswith("/api/"):
        return error_response(error)
    return told_error(request, error)


def _sign_in(request: HttpRequest) -> HttpResponseBase:
    """Where reading needs an account."""
    if request.path.startswith("/api/"):
        return error_response(
            PalaceError(
                "Reading this palace needs an account.",
                code="memcastle::auth::unauthorized",
                help="Sign in, or send a token.",
                status=401,
            )
        )
    login = redirect_to_login(request.get_full_path(), "/admin/login/")
    return HttpResponseClientRedirect(login.url) if request.htmx else login  # type: ignore[attr-defined]


def _slide(request: HttpRequest) -> HttpResponse | str | None:
    """The time bar gives a position in seconds (`t`); addresses name an instant instead.

    Without htmx the answer is a redirect to the named instant. With it the page is answered at
    once, and the address to show is given back.
    """
    text = request.GET.get("t")
    if text is None or request.path.startswith("/api/"):
        return None
    kept = [(name, one) for name in request.GET for one in request.GET.getlist(name)]
    pairs = [(name, one) for name, one in kept if name not in _TIMES]
    instant = _position(text, request.GET.get("t_now"))
    if instant is not None:
        pairs.append(("as_of", print_short(instant)))
    address = f"{escape_uri_path(request.path)}?{urlencode(pairs)}".removesuffix("?")
    if not request.htmx:  # type: ignore[attr-defined]
        return HttpResponseRedirect(address)
    changed = request.GET.copy()
    changed.clear()
    for name, one in pairs:
        changed.appendlist(name, one)
    request.GET = changed  # type: ignore[assignment]
    request.META["QUERY_STRING"] = urlencode(pairs)
    return address


def _position(text: str, last: str | None) -> int | None:
    """The instant of a stop; None for the last one, which means now."""
    try:
        seconds, newest = int(text[:20]), int(last[:20]) if last else None
    except ValueError:
        raise _no_position() from None
    if newest is not None and seconds >= newest:
        return None
    if not MIN_INSTANT <= seconds * SECOND <= MAX_INSTANT:
        raise _no_position()
    return seconds * SECOND


def _no_position() -> InvalidInput:
    return InvalidInput(
        "“t” is a position of the time bar: whole seconds since 1970, in the years 0001 to 9999.",
        code="memcastle::input::instant",
        help="Move the bar, or name an instant: as_of=2026-03-14.",
    )
