"""Turns every error of the driver into a told one with a stable code."""

from __future__ import annotations

import re

from surrealdb.errors import (
    ConnectionUnavailableError,
    NotAllowedError,
    QueryError,
    SurrealError,
    ThrownError,
    TransportError,
)

from palace.domain.errors import Conflict, InvalidInput, OperationFailed, PalaceError, TimedOut

DRIVER_ERRORS = (SurrealError, ValueError, TypeError, UnicodeError)
_TIMEOUT = "exceeded the timeout"
_THROWN = re.compile(r"An error occurred: (\w+)(?:\|(.*))?", re.DOTALL)

# What the atomic blocks THROW, and how it is told.
_CONFLICTS = {
    "drawer_superseded": "The drawer was superseded in the meantime.",
    "drawer_ended": "The drawer has already ended.",
    "drawer_name_taken": "Another drawer of this room holds that name.",
    "not_after_valid_from": "The end must lie after the beginning.",
    "drawer_changed": "The drawer was changed in the meantime.",
}
_HELP = "Look at the drawer as it is now and decide again; nothing was written."


def is_conflict(error: BaseException) -> bool:
    """Whether the engine asks to run the transaction again."""
    return bool(getattr(error, "is_transaction_conflict", False)) or (
        isinstance(error, SurrealError) and "Transaction conflict" in str(error)
    )


def translate(error: Exception) -> PalaceError:
    """The told form of a driver's error."""
    if not isinstance(error, SurrealError):
        return InvalidInput(f"The database cannot take this value: {error!s:.300}", code=_VALUE)
    return _refusal(error, str(error))


def _refusal(error: SurrealError, text: str) -> PalaceError:
    if is_conflict(error):
        return Conflict("Others are writing to the same records.", help="Try again in a moment.")
    if isinstance(error, QueryError | ThrownError) and _TIMEOUT in text:
        return TimedOut("The palace did not answer in time.", help="Narrow the question.")
    if isinstance(error, ThrownError):
        return _thrown(text)
    if "`drawer_name` already contains" in text:
        return _conflict("drawer_name_taken")
    if isinstance(error, TransportError | ConnectionUnavailableError | NotAllowedError):
        return OperationFailed(f"The palace cannot be reached: {text[:300]}", help=_REACH)
    return OperationFailed(f"The database refused: {text[:300]}", code=_FAILED)


_REACH = "Check MEMCASTLE_PALACE_URL and its credentials, and that the server runs."
_FAILED = "memcastle::store::failed"
_VALUE = "memcastle::input::value"


def _thrown(text: str) -> PalaceError:
    match = _THROWN.search(text)
    what = match.group(1) if match else ""
    if what in _CONFLICTS:
        return _conflict(what)
    return OperationFailed(f"The database refused: {text[:300]}", code=_FAILED)


def _conflict(what: str) -> Conflict:
    return Conflict(_CONFLICTS[what], code=f"memcastle::palace::{what}", help=_HELP)
