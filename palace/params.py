"""The one parser of parameters, for pages and routes alike, and the way back to a URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from palace.domain.errors import Notice
from palace.domain.query import DEFAULT_LIMIT, STALE_CHOICES, Scope
from palace.domain.records import SOURCE_KINDS
from palace.domain.results import SearchMode
from palace.parameters import (
    read_choice,
    read_flag,
    read_one,
    read_ranking,
    read_storable,
    read_tags,
    read_time,
    read_whole,
)

ALIASES = {
    "include_historical": "history",
    "include_expired": "history",
    "query": "q",
    "text": "q",
    "namespace": "room",
    "domain": "wing",
}
KNOWN = frozenset(
    [
        "q",
        "wing",
        "room",
        "tag",
        "tags",
        "source_kind",
        "project",
        "branch",
        "path",
        "agent",
        "stale",
        "entity",
        "entity_match",
        "ranking",
        "as_of",
        "from",
        "until",
        "history",
        "known_at",
        "expand",
        "limit",
        "cursor",
        "explain",
        "degrade",
        "facets",
    ]
) | frozenset(ALIASES)


@dataclass(frozen=True)
class Asked:
    """What a request asks: the scope, the query, how many, and what was told while reading it.

    ``now`` is the request's clock. ``time_given`` is the time part of the URL in its canonical
    spelling; empty means "now".
    """

    scope: Scope
    now: int
    q: str = ""
    ranking: SearchMode = SearchMode.AUTO
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    expand: int = 0
    explain: bool = False
    degrade: bool = False
    facets: bool = False
    time_given: tuple[tuple[str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()  # what the page reads itself and links keep
    fixed: frozenset[str] = frozenset()  # names that the path gives; no query repeats them

    @property
    def is_now(self) -> bool:
        """No time was asked: the present, and all we know."""
        return not self.time_given

    @property
    def is_browse(self) -> bool:
        """An empty query or `*` lists instead of searching."""
        return self.q.strip() in ("", "*")

    @property
    def time_query(self) -> str:
        """The time part as a query string without `?`; empty for now."""
        return urlencode(self.time_given)

    def pairs(self) -> list[tuple[str, str]]:
        """The whole state but the cursor, in one fixed order."""
        scope = self.scope
        single = [
            ("q", self.q),
            ("wing", scope.wing),
            ("room", scope.room),
            *(("tag", tag) for tag in scope.tags),
            ("source_kind", scope.source_kind),
            ("project", scope.project),
            ("branch", scope.branch),
            ("path", scope.path),
            ("agent", scope.agent),
            ("stale", scope.stale if scope.stale != "hide" else None),
            *(("entity", name) for name in scope.entities),
            ("entity_match", scope.entity_match if scope.entity_match != "all" else None),
            ("ranking", str(self.ranking) if self.ranking is not SearchMode.AUTO else None),
            ("limit", str(self.limit) if self.limit != DEFAULT_LIMIT else None),
        ]
        given = [(name, value) for name, value in single if value and name not in self.fixed]
        return given + list(self.extra) + list(self.time_given)

    def query(self, *, drop: Iterable[str] = (), **changes: Any) -> str:
        """The state as a query string with changes; None or ``drop`` removes a name.

        ``changes`` are texts, lists of texts, or None. Changing anything of the time removes
        the other time choices (``known_at`` stays).
        """
        gone = set(drop) | set(changes)
        if gone & {"as_of", "from", "until", "history"}:
            gone |= {"as_of", "from", "until", "history"}
        kept = [(name, value) for name, value in self.pairs() if name not in gone]
        for name, value in changes.items():
            values = [value] if isinstance(value, str) else list(value or ())
            kept.extend((name, one) for one in values)
        return urlencode(kept)


def parse(
    parameters: Mapping[str, Sequence[str]],
    now: int,
    *,
    also: Iterable[str] = (),
    scope: Mapping[str, str] | None = None,
) -> Asked:
    """Read parameters (name to its list of values) at the request's clock ``now``.

    ``also`` are names the caller reads itself, ``scope`` what its path fixes. Raises InvalidInput
    naming the parameter; unknown names and unknown choices that can be ignored are notices.
    """
    also = frozenset(also)
    values, told = _named(parameters, also)
    time, given = read_time(values, now)
    place = scope or {}
    asked = Scope(
        time,
        wing=place.get("wing") or read_one(values, "wing"),
        room=place.get("room") or read_one(values, "room"),
        tags=read_tags(values),
        source_kind=read_choice(values, "source_kind", SOURCE_KINDS),
        project=read_one(values, "project"),
        branch=read_one(values, "branch"),
        path=read_one(values, "path"),
        agent=read_one(values, "agent"),
        stale=read_choice(values, "stale", STALE_CHOICES) or "hide",
        entities=tuple(dict.fromkeys(one for one in values.get("entity", []) if one.strip())),
        entity_match=read_choice(values, "entity_match", ("any", "all")) or "all",
        asked_at=now,
    )
    return Asked(
        scope=asked,
        now=now,
        q=read_storable("q", (values.get("q") or [""])[0]),
        ranking=read_ranking(values),
        limit=read_whole(values, "limit", DEFAULT_LIMIT),
        cursor=read_one(values, "cursor"),
        expand=read_whole(values, "expand", 0),
        explain=read_flag(values, "explain"),
        degrade=read_flag(values, "degrade"),
        facets=read_flag(values, "facets"),
        time_given=given,
        notices=told,
        extra=_extra(parameters, also),
        fixed=frozenset(place),
    )


def _extra(
    parameters: Mapping[str, Sequence[str]], also: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    return tuple((name, parameters[name][0]) for name in sorted(also) if parameters.get(name))


def _named(
    parameters: Mapping[str, Sequence[str]], also: frozenset[str]
) -> tuple[dict[str, list[str]], tuple[Notice, ...]]:
    values: dict[str, list[str]] = {}
    told: list[Notice] = []
    for name, given in parameters.items():
        if name in KNOWN:
            values.setdefault(ALIASES.get(name, name), []).extend(given)
        elif name not in also:
            told.append(
                Notice(
                    "memcastle::input::unknown", f"The parameter “{name[:80]}” is not known here."
                )
            )
    return values, tuple(told)


def as_lists(query: Any) -> dict[str, list[str]]:
    """A QueryDict as plain lists."""
    return {name: query.getlist(name) for name in query}
