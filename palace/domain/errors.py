"""Every failure the product can tell: a stable code, a sentence, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass


class PalaceError(Exception):
    """Base of all told errors.

    ``code`` is stable (`memcastle::<area>::<what>`), ``message`` says what is wrong and what is
    allowed, ``help`` what to do next, ``status`` the HTTP status of pages and API alike.
    """

    status = 500
    code = "memcastle::app::failed"

    def __init__(
        self, message: str, *, code: str = "", help: str = "", status: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.help = help
        self.status = status or type(self).status


class InvalidInput(PalaceError):
    """A parameter or value that is not allowed (400)."""

    status = 400
    code = "memcastle::input::invalid"


class Unauthorized(PalaceError):
    """The read or write permission is missing."""

    status = 403
    code = "memcastle::auth::forbidden"


class NotFound(PalaceError):
    """A wing, room, drawer or entity that is not in the palace (404)."""

    status = 404
    code = "memcastle::palace::drawer_not_found"


class Conflict(PalaceError):
    """The state of the palace refuses the write (409); nothing was written."""

    status = 409
    code = "memcastle::palace::busy"


class OperationFailed(PalaceError):
    """A backend is absent or failed."""

    status = 503
    code = "memcastle::store::unavailable"


class StoreLocked(OperationFailed):
    """Another process holds the palace's files."""

    code = "memcastle::store::locked"


class StoreDamaged(OperationFailed):
    """The directory is not a palace, or a damaged one; it was left as it is."""

    code = "memcastle::store::damaged"


class TimedOut(PalaceError):
    """Every leg of a search ran past the deadline (504)."""

    status = 504
    code = "memcastle::search::timed_out"


@dataclass(frozen=True)
class Notice:
    """Something the answer left out, clamped or did not understand: told, never silent."""

    code: str
    message: str
