"""Who may call a route: checked before its body is read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from ninja.security.base import AuthBase

from palace.access import auth_context, refuse_by_mode
from palace.api.errors import invalid
from palace.curation import WRITE
from palace.domain.errors import PalaceError, Unauthorized
from palace.domain.results import AuthContext
from palace.recall import READ

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class SessionAccess(AuthBase):
    """The session cookie, or nothing where reading is open; answers the request's AuthContext."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = "sessionid"

    def __init__(self, permission: str) -> None:
        self.permission = permission
        super().__init__()

    def __call__(self, request: HttpRequest) -> AuthContext:
        writes = self.permission != READ
        refuse_by_mode(request, writes=writes)
        auth = auth_context(request)
        if self.permission not in auth.permissions and not request.user.is_authenticated:
            raise signed_out(self.permission)
        if request.method not in _SAFE:
            _check_form(request)
            _check_csrf(request)
        auth.require(self.permission)
        return auth


reading = SessionAccess(READ)
writing = SessionAccess(WRITE)


def signed_out(permission: str) -> PalaceError:
    """The 401 of a call that needs an account."""
    return PalaceError(
        f"This needs the permission “{permission}”, and nobody is signed in.",
        code="memcastle::auth::unauthorized",
        help="Sign in at /admin/ and send the session cookie.",
        status=401,
    )


def _check_form(request: HttpRequest) -> None:
    """Bodies are JSON; a form of another site cannot send that."""
    if int(request.META.get("CONTENT_LENGTH") or 0) and request.content_type != "application/json":
        raise invalid(
            "Content-Type",
            f"The body comes as “{request.content_type or ''}”.",
            "Send JSON with Content-Type: application/json.",
        )


def _check_csrf(request: HttpRequest) -> None:
    """A session cookie alone does not prove that the person meant it."""
    if not request.user.is_authenticated:
        return
    if CsrfViewMiddleware(_unused).process_view(request, _unused, (), {}) is not None:
        raise Unauthorized(
            "The CSRF token is missing or wrong.",
            code="memcastle::auth::csrf",
            help="Send the csrftoken cookie's value in the header X-CSRFToken.",
        )


def _unused(request: HttpRequest) -> HttpResponse:
    return HttpResponse()
