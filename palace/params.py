"""The one parser of parameters, for pages and routes alike, and the way back to a URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from palace.domain.errors import InvalidInput, Notice
from palace.domain.query import DEFAULT_LIMIT, STALE_CHOICES, Scope
from palace.domain.records import SOURCE_KINDS
from palace.domain.results import SearchMode
from palace.domain.time import (
    DAY,
    Temporal,
    is_date_only,
    parse_instant,
    print_short,
)

TIME_NAMES = ("as_of", "from", "until", "history", "known_at")
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
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


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

    def query(self, *, drop: Iterable[str] = (), **changes: str | Sequence[str] | None) -> str:
        """The state as a query string with changes; None or ``drop`` removes a name.

        Changing anything of the time removes the other time choices (``known_at`` stays).
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
        wing=place.get("wing") or _one(values, "wing"),
        room=place.get("room") or _one(values, "room"),
        tags=_tags(values),
        source_kind=_choice(values, "source_kind", SOURCE_KINDS),
        project=_one(values, "project"),
        branch=_one(values, "branch"),
        path=_one(values, "path"),
        agent=_one(values, "agent"),
        stale=_choice(values, "stale", STALE_CHOICES) or "hide",
        entities=tuple(dict.fromkeys(one for one in values.get("entity", []) if one.strip())),
        entity_match=_choice(values, "entity_match", ("any", "all")) or "all",
        asked_at=now,
    )
    return Asked(
        scope=asked,
        now=now,
        q=_storable("q", (values.get("q") or [""])[0]),
        ranking=_ranking(values),
        limit=_whole(values, "limit", DEFAULT_LIMIT),
        cursor=_one(values, "cursor"),
        expand=_whole(values, "expand", 0),
        explain=_flag(values, "explain"),
        degrade=_flag(values, "degrade"),
        facets=_flag(values, "facets"),
        time_given=given,
        notices=told,
        extra=_extra(parameters, also),
        fixed=frozenset(place),
    )


def _extra(
    parameters: Mapping[str, Sequence[str]], also: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    return tuple((name, parameters[name][0]) for name in sorted(also) if parameters.get(name))


def read_time(
    values: Mapping[str, Sequence[str]], now: int
) -> tuple[Temporal, tuple[tuple[str, str], ...]]:
    """The temporal choice of parameters, and its canonical spelling for URLs."""
    texts = {name: _one(values, name) for name in TIME_NAMES}
    history = _flag(values, "history")
    window = texts["from"] is not None or texts["until"] is not None
    if (texts["as_of"] is not None) + window + history > 1:
        raise _invalid(
            "as_of", "“as_of”, “from” with “until”, and “history” exclude each other.", "Keep one."
        )
    known = _instant("known_at", texts["known_at"])
    tail = (("known_at", print_short(known)),) if known is not None else ()
    if history:
        return Temporal.history(known), (("history", "1"), *tail)
    if window:
        start, until = _window(texts["from"], texts["until"])
        given = (("from", print_short(start)), ("until", print_short(until)))
        return Temporal.between(start, until, known), (*given, *tail)
    at = _instant("as_of", texts["as_of"])
    if at is None:
        return Temporal.as_of(now, known), tail
    return Temporal.as_of(at, known), (("as_of", print_short(at)), *tail)


def _window(start: str | None, until: str | None) -> tuple[int, int]:
    if start is None or until is None:
        raise _invalid("from", "“from” and “until” go together.", "Give both, or neither.")
    a, b = _instant("from", start), _instant("until", until)
    assert a is not None
    assert b is not None
    if a == b and is_date_only(start) and is_date_only(until):
        b = a + DAY  # one day named twice means that day
    if a >= b:
        raise _invalid(
            "until", "“from” must lie before “until”.", "Swap them, or widen the window."
        )
    return a, b


def _instant(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_instant(text)
    except InvalidInput as error:
        raise _invalid(name, f"{name}: {error.message}", error.help) from None


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


def _one(values: Mapping[str, Sequence[str]], name: str) -> str | None:
    given = [_storable(name, value) for value in values.get(name, []) if value.strip()]
    if len(set(given)) > 1:
        raise _invalid(name, f"“{name}” is given twice with different values.", "Give it once.")
    return given[0] if given else None


def _storable(name: str, value: str) -> str:
    if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _invalid(name, f"“{name}” holds a character that is no text.", "Remove it.")
    return value


def _tags(values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    listed = [part for value in values.get("tags", []) for part in value.split(",")]
    given = [_storable("tag", one).strip() for one in (*values.get("tag", []), *listed)]
    return tuple(dict.fromkeys(one for one in given if one))


def _choice(values: Mapping[str, Sequence[str]], name: str, allowed: Sequence[str]) -> str | None:
    value = _one(values, name)
    if value is not None and value not in allowed:
        raise _invalid(name, f"“{name}” is “{value[:80]}”.", f"One of {', '.join(allowed)}.")
    return value


def _ranking(values: Mapping[str, Sequence[str]]) -> SearchMode:
    value = _one(values, "ranking")
    try:
        return SearchMode(value) if value else SearchMode.AUTO
    except ValueError:
        allowed = ", ".join(mode.value for mode in SearchMode)
        raise _invalid("ranking", f"“ranking” is “{value!s:.80}”.", f"One of {allowed}.") from None


def _whole(values: Mapping[str, Sequence[str]], name: str, default: int) -> int:
    value = _one(values, name)
    if value is None:
        return default
    try:
        number = int(value)
    except ValueError:
        raise _invalid(name, f"“{name}” is no whole number.", "Write digits only.") from None
    return max(-(10**9), min(10**9, number))


def _flag(values: Mapping[str, Sequence[str]], name: str) -> bool:
    value = (_one(values, name) or "").strip().lower()
    if value not in _TRUE + _FALSE:
        raise _invalid(name, f"“{name}” is “{value[:80]}”.", "Write 1 or leave it out.")
    return value in _TRUE


def _invalid(name: str, message: str, help: str) -> InvalidInput:
    error = InvalidInput(message, help=help)
    error.parameter = name  # type: ignore[attr-defined]
    return error


def at_instant(asked: Asked, scope_time: Temporal) -> Asked:
    """The same question at another time."""
    return replace(asked, scope=asked.scope.at(scope_time))


def as_lists(query: Any) -> dict[str, list[str]]:
    """A QueryDict as plain lists."""
    return {name: query.getlist(name) for name in query}
