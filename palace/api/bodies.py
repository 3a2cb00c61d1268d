"""The bodies that routes read. Unknown keys are told, not refused."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from palace.api.errors import invalid
from palace.domain.errors import InvalidInput, Notice
from palace.domain.time import parse_instant


class Body(BaseModel):
    """A JSON object; keys beyond its fields are kept aside."""

    model_config = ConfigDict(extra="allow")

    @property
    def others(self) -> dict[str, Any]:
        return dict(self.model_extra or {})

    def notices(self) -> tuple[Notice, ...]:
        """One for each key that no field takes."""
        return tuple(
            Notice("memcastle::input::unknown", f"The option “{name[:80]}” is not known here.")
            for name in self.others
        )


class NewPlace(Body):
    """A wing or a room to create or find."""

    name: str
    description: str | None = None


class NewText(Body):
    """A drawer to file."""

    content: str
    name: str | None = None
    tags: list[str] = Field(default_factory=list)
    source: dict[str, Any] | None = None
    requested_by: str | None = None
    valid_from: str | None = None


class Supersession(Body):
    """What replaces a drawer; without ``content`` the drawer ends unreplaced."""

    content: str | None = None
    tags: list[str] | None = None
    requested_by: str | None = None
    reason: str | None = None
    at: str | None = None
    seen: str | None = None


class SearchBody(Body):
    """A search as JSON. ``filter`` takes every filter of the query string, and ``temporal``."""

    text: str = ""
    limit: int | None = None
    ranking: str | None = None
    expand: int | None = None
    filter: dict[str, Any] | None = None
    query_embedding: list[float] | None = None
    embedding_model: str | None = None
    degrade: bool | None = None


def moment(name: str, text: str | None) -> int | None:
    """An instant of a body; errors name its option."""
    if text is None:
        return None
    try:
        return parse_instant(text)
    except InvalidInput as error:
        raise invalid(name, f"{name}: {error.message}", error.help) from None


def search_lists(body: SearchBody) -> dict[str, list[str]]:
    """A search body in the form of a query string, for the one parser."""
    lists: dict[str, list[str]] = {"q": [body.text]}
    filters = dict(body.filter or {})
    temporal = filters.pop("temporal", None)
    fields = {"limit": body.limit, "ranking": body.ranking, "expand": body.expand}
    for source in (fields, filters, _time_lists(temporal), body.others):
        for name, value in source.items():
            listed = _texts(name, value)
            if listed:
                lists.setdefault("tag" if name == "tags" else name, []).extend(listed)
    return lists


def _time_lists(temporal: Any) -> dict[str, Any]:
    if temporal in (None, "current"):
        return {}
    if temporal == "all":
        return {"history": True}
    if isinstance(temporal, dict):
        if set(temporal) == {"as_of"}:
            return temporal
        window = temporal.get("between")
        if set(temporal) == {"between"} and isinstance(window, dict):
            return {"from": window.get("from"), "until": window.get("until")}
    forms = "“current”, “all”, {as_of: …} or {between: {from: …, until: …}}"
    raise invalid("filter.temporal", "The temporal choice is not one of four.", f"{forms}.")


def _texts(name: str, value: Any) -> list[str]:
    """A JSON value as texts of a query string."""
    if value is None:
        return []
    if isinstance(value, list):
        return [text for one in value for text in _texts(name, one)]
    if isinstance(value, bool):
        return ["1" if value else "0"]
    if isinstance(value, str):
        return [value]
    if isinstance(value, int | float):
        return [f"{value:g}" if isinstance(value, float) else str(value)]
    raise invalid(name[:80], f"“{name[:80]}” is an object.", "Give a text, a number or a list.")
