"""Who may do what: the context of a request, narrowed by the memory mode."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from django.conf import settings

from palace.domain.errors import InvalidInput, PalaceError
from palace.domain.results import AuthContext

if TYPE_CHECKING:
    from django.http import HttpRequest

MODES = ("disabled", "read_only", "full")  # from narrow to wide
HEADER = "X-MemCastle-Mode"
_WRITES = frozenset({"supersede", "import", "embed", "administer"})


def is_loopback(bind: str) -> bool:
    """Whether an address such as `127.0.0.1:8000` only this machine can reach."""
    host = bind.rpartition(":")[0].strip("[]") if ":" in bind else bind
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def memory_mode(request: HttpRequest) -> str:
    """The deployment's mode, which a header can only narrow."""
    asked = request.headers.get(HEADER, "full")
    if asked not in MODES:
        raise InvalidInput(f"{HEADER} is “{asked[:40]}”.", help=f"One of {', '.join(MODES)}.")
    return min(settings.MEMCASTLE_MODE, asked, key=MODES.index)


def may_read_anonymously() -> bool:
    return is_loopback(settings.MEMCASTLE_BIND) and not settings.MEMCASTLE_REQUIRE_LOGIN


def auth_context(request: HttpRequest) -> AuthContext:
    """The permissions of a request. Writing needs a staff account."""
    user = request.user
    permissions = set()
    if user.is_authenticated or may_read_anonymously():
        permissions.add("view")
    if user.is_authenticated and user.is_active and user.is_staff:
        permissions |= {"supersede", "import"}
    mode = memory_mode(request)
    if mode == "disabled":
        permissions.clear()
    elif mode == "read_only":
        permissions -= _WRITES
    return AuthContext(user.get_username() or "anonymous", frozenset(permissions))


def refuse_by_mode(request: HttpRequest, *, writes: bool) -> None:
    """Raise when the memory mode forbids what the request does."""
    mode = memory_mode(request)
    if mode == "disabled" or (mode == "read_only" and writes):
        raise PalaceError(
            f"The memory mode is {mode}: this is not allowed now.",
            code="memcastle::app::mode_forbidden",
            help=f"Send {HEADER}: full, or set MEMCASTLE_MODE.",
            status=403,
        )
