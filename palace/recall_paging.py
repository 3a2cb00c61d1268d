"""Pages of an answer: limits, keyset cursors, and the times they pin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from palace.domain.errors import Notice
from palace.domain.query import MAX_LIMIT, Cursor, Scope
from palace.domain.time import Temporal


def clamp_limit(limit: int) -> tuple[int, tuple[Notice, ...]]:
    """A limit within 1..200, and a notice when it had to be moved."""
    clamped = max(1, min(MAX_LIMIT, limit))
    if clamped == limit:
        return limit, ()
    return clamped, (
        Notice("memcastle::input::clamped", f"limit {limit} was taken as {clamped} (1 to 200)."),
    )


def pinned(filter: Scope, cursor: Cursor | None) -> Scope:
    """The scope of a later page: both time axes as they were for the first one."""
    if cursor is None or cursor.known_at is None:
        return filter
    if filter.time.is_as_of and cursor.as_of is not None:
        return filter.at(Temporal.as_of(cursor.as_of, cursor.known_at))
    return filter.at(replace(filter.time, known_at=cursor.known_at))


def next_cursor(
    filter: Scope,
    before: Cursor | None,
    found: Sequence[tuple[int, str]],
    limit: int,
    total: int | None,
) -> str | None:
    """The cursor after a keyset page that was asked one row longer than shown."""
    if len(found) <= limit:
        return None
    order, ident = found[limit - 1]
    offset = (before.offset if before else 0) + limit
    if before:
        return replace(before, order=order, id=ident, offset=offset).encode()
    return first_cursor(filter, order, ident, offset, total).encode()


def first_cursor(filter: Scope, order: int, ident: str, offset: int, total: int | None) -> Cursor:
    """A cursor that pins what was asked, and what was known when it was asked."""
    known = filter.time.known_at if filter.time.known_at is not None else filter.asked_at
    return Cursor(order, ident, filter.time.instant, known, offset, total)


def read_cursor(text: str | None) -> Cursor | None:
    return Cursor.decode(text) if text else None
