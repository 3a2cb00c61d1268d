"""Applies `database/schema/palace.surql` when a store opens, and keeps its version."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from surrealdb.errors import NotFoundError

from palace.domain.errors import StoreDamaged
from palace.store import guard

SCHEMA_FILE = Path(__file__).parents[2] / "database" / "schema" / "palace.surql"
VERSION = 1
MARKER = "memcastle-palace"

_READ_MARKER = "SELECT VALUE [version, marker] FROM ONLY meta:palace"
_WRITE_MARKER = """
UPSERT meta:palace SET version = $version, marker = $marker, created_at = created_at ?? $now
"""


@cache
def schema_text() -> str:
    """The statements of the schema file."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


async def prepare(client: Any, address: Any, creating: bool) -> None:
    """Check the marker, apply the schema, write the marker.

    A store without the marker is refused unless this opening creates it: an embedded one when its
    directory was empty, a server's database when it holds no table at all.
    """
    version = await _version(client)
    if version is None:
        if not creating or (address.is_server and await _has_tables(client)):
            raise guard.damaged(address.url)
    elif version > VERSION:
        raise StoreDamaged(
            f"The palace has schema version {version}; this program knows up to {VERSION}.",
            help="Update the program, or open a palace of its own version.",
        )
    await client.query(schema_text(), {}).execute()
    if version != VERSION:
        variables = {"version": VERSION, "marker": MARKER, "now": datetime.now(UTC)}
        await client.query(_WRITE_MARKER, variables).execute()


async def _version(client: Any) -> int | None:
    try:
        rows = await client.query(_READ_MARKER, {}).execute()
    except NotFoundError:
        return None
    row = rows[-1]
    return int(row[0]) if row and row[1] == MARKER else None


async def _has_tables(client: Any) -> bool:
    info = (await client.query("INFO FOR DB", {}).execute())[-1]
    return bool(info.get("tables"))
