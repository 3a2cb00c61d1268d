"""How commands find the server that holds the palace: `<data>/server.json`.

It names the address, the process and a token that lives as long as that process; only the
account that runs the server can read it (mode 0600).
"""

from __future__ import annotations

import atexit
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest

_mine: Served | None = None


@dataclass(frozen=True)
class Served:
    """A running server."""

    address: str
    pid: int
    token: str

    def __repr__(self) -> str:
        return f"Served({self.address!r}, pid={self.pid})"


def _file() -> Path:
    return Path(settings.MEMCASTLE_DATA_DIR) / "server.json"


def announce(address: str) -> None:
    """Tell commands where this process serves; once per process."""
    global _mine  # noqa: PLW0603
    if _mine is not None and _mine.pid == os.getpid():
        return
    _mine = Served(address, os.getpid(), secrets.token_urlsafe(32))
    _file().parent.mkdir(parents=True, exist_ok=True)
    _file().unlink(missing_ok=True)
    with open(os.open(_file(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        json.dump({"address": address, "pid": _mine.pid, "token": _mine.token}, file)
    atexit.register(withdraw)


def announce_once(request: HttpRequest) -> bool:
    """The same at the first request of a server that does not say where it listens."""
    if _mine is not None or not request.META.get("SERVER_PORT", "").isdigit():
        return False
    if request.META.get("SERVER_NAME") == "testserver":
        return False
    announce(f"http://{request.get_host()}")
    return True


def withdraw() -> None:
    """Take the file back if it is still this process's."""
    found = running()
    if found is not None and found.pid == os.getpid():
        _file().unlink(missing_ok=True)


def running() -> Served | None:
    """The server that is running on this data directory, if there is one."""
    try:
        found = Served(**json.loads(_file().read_text(encoding="utf-8")))
        os.kill(found.pid, 0)
    except (OSError, ValueError, TypeError):
        return None
    return found


def is_own_token(token: str) -> bool:
    """Whether a token is the one of this process."""
    return _mine is not None and hmac.compare_digest(token.encode(), _mine.token.encode())
