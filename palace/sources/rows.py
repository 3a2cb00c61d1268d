"""Reads one row of the JSON lines format: from a mapping to checked values."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from palace.domain.errors import InvalidInput
from palace.domain.records import (
    Drawer,
    Room,
    Wing,
    check_content,
    check_kind,
    check_tags,
    check_text,
    check_values,
    content_hash,
    derived_id,
)
from palace.domain.time import parse_instant

_DRAWER_KEYS = frozenset(
    [
        "type",
        "wing",
        "room",
        "content",
        "name",
        "former_name",
        "tags",
        "source",
        "provenance",
        "valid_from",
        "valid_to",
        "created_at",
        "closed_at",
        "close_reason",
        "id",
        "supersedes",
        "superseded_by",
        "key",
    ]
)
TYPES = ("manifest", "wing", "room", "entity", "drawer", "end", "mention", "fact", "event", "mined")


@dataclass(frozen=True)
class DrawerRow:
    """A drawer as a line gives it; ``is_record`` when the line brings its own links."""

    drawer: Drawer
    line: int
    is_record: bool
    unknown: frozenset[str] = frozenset()
    is_timeless: bool = False


def type_of(row: object) -> str:
    """The type of a row; InvalidInput when it is none of ours."""
    if not isinstance(row, dict):
        raise InvalidInput("The line is not a JSON object.")
    kind = row.get("type", "drawer")
    if kind not in TYPES:
        raise InvalidInput(f"Unknown type “{kind}”: one of {', '.join(TYPES)}.")
    return str(kind)


def read_drawer_row(row: dict[str, Any], line: int, now: int) -> DrawerRow:
    """Check a drawer's row. Absent times are the import's; an absent id is derived."""
    content = check_content(text(row, "content"))
    digest = content_hash(content)
    wing, room = check_text("wing", text(row, "wing")), check_text("room", text(row, "room"))
    name, key = optional(row, "name"), optional(row, "key")
    written = row.get("valid_from")
    ident = optional(row, "id") or derived_id(
        wing, room, key or name, "" if written is None else str(written), digest
    )
    valid_from, valid_to = instant(row, "valid_from", now), instant(row, "valid_to", None)
    created_at = instant(row, "created_at", now)
    unknown = frozenset(row) - _DRAWER_KEYS
    former = optional(row, "former_name")
    assert valid_from is not None
    assert created_at is not None
    drawer = Drawer(
        id=_check_id(ident),
        wing=wing,
        room=room,
        content=content,
        content_hash=digest,
        name=name if valid_to is None else None,
        former_name=former or (name if valid_to is not None else None),
        tags=check_tags(row.get("tags") or []),
        source=_source(row, unknown),
        provenance=mapping(row, "provenance"),
        valid_from=valid_from,
        valid_to=valid_to,
        created_at=created_at,
        closed_at=_closed_at(row, valid_to, now),
        supersedes=idents(row, "supersedes"),
        superseded_by=idents(row, "superseded_by"),
        close_reason=optional(row, "close_reason"),
        key=key,
    )
    linked = bool(drawer.supersedes or drawer.superseded_by)
    return DrawerRow(drawer, line, linked, unknown, written is None)


def _source(row: dict[str, Any], unknown: frozenset[str]) -> dict[str, Any]:
    """The source, with the keys that are none of ours kept aside."""
    source = mapping(row, "source")
    if unknown:
        source["extra"] = mapping(source, "extra") | {one: row[one] for one in sorted(unknown)}
    return check_kind(source)


def _check_id(ident: str) -> str:
    if any(ord(letter) < 32 for letter in ident):
        raise InvalidInput("The id holds a control character.", help="Give a plain id, or none.")
    return check_text("id", ident, 200)


def _closed_at(row: dict[str, Any], valid_to: int | None, now: int) -> int | None:
    given = instant(row, "closed_at", None)
    return given if given is not None or valid_to is None else now


def text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"“{name}” is required and is a text.")
    return value


def optional(row: dict[str, Any], name: str) -> str | None:
    return check_text(name, text(row, name)) if row.get(name) is not None else None


def mapping(row: dict[str, Any], name: str) -> dict[str, Any]:
    value = row.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"“{name}” is an object.")
    check_values(name, value)
    return dict(value)


def instant(row: dict[str, Any], name: str, default: int | None) -> int | None:
    value = row.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise InvalidInput(f"“{name}” is an instant written as text.")
    try:
        return parse_instant(value)
    except InvalidInput as error:
        raise InvalidInput(f"“{name}”: {error.message}", help=error.help) from None


def idents(row: dict[str, Any], name: str) -> tuple[str, ...]:
    value = row.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise InvalidInput(f"“{name}” is a list of ids.")
    return tuple(dict.fromkeys(_check_id(one) for one in value))


def read_place(row: dict[str, Any], now: int) -> Wing | Room:
    """The wing or the room of a row."""
    created_at = instant(row, "created_at", now)
    assert created_at is not None
    name, described = check_text("name", text(row, "name")), optional(row, "description")
    if type_of(row) == "wing":
        return Wing(name, described, created_at)
    return Room(check_text("wing", text(row, "wing")), name, described, created_at)


def read_mined(row: dict[str, Any]) -> tuple[str, str, str]:
    """Project, branch and commit of a checkpoint."""
    project, branch, commit = (
        check_text(name, text(row, name)) for name in ("project", "branch", "commit")
    )
    return project, branch, commit


def fold(name: str) -> str:
    """A name without case, accents and punctuation: what look-alikes share."""
    bare = unicodedata.normalize("NFKD", name.casefold())
    return " ".join(
        "".join(
            letter if letter.isalnum() else " "
            for letter in bare
            if not unicodedata.combining(letter)
        ).split()
    )
