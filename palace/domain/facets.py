"""Facet counts: how many drawers each alternative of a filter would leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from palace.domain.query import Scope
from palace.domain.results import Facet

Row = tuple[str, str, str, tuple[str, ...], int]  # wing, room, kind, tags, number
_MOST = 200


def relaxed(scope: Scope) -> Scope:
    """The scope without the filters that facets offer alternatives to."""
    return replace(scope, wing=None, room=None, tags=(), source_kind=None)


def is_relaxed(scope: Scope) -> bool:
    return relaxed(scope) == scope


def facets_of(rows: Iterable[Row], scope: Scope) -> dict[str, tuple[Facet, ...]]:
    """Counts per wing, room, kind and tag. A filter never removes its own alternatives:

    each facet is counted with all filters but its own.
    """
    kept = list(rows)
    return {
        "wing": _count(kept, replace(scope, wing=None, room=None), lambda row: [(row[0], None)]),
        "room": _count(kept, replace(scope, room=None), lambda row: [(row[1], row[0])]),
        "source_kind": _count(kept, replace(scope, source_kind=None), lambda row: [(row[2], None)]),
        "tag": _count(kept, replace(scope, tags=()), lambda row: [(tag, None) for tag in row[3]]),
    }


def total_of(rows: Iterable[Row], scope: Scope) -> int:
    """How many of the rows hold under all filters."""
    return sum(row[4] for row in rows if _holds(row, scope))


def _count(
    rows: list[Row], scope: Scope, values: Callable[[Row], list[tuple[str, str | None]]]
) -> tuple[Facet, ...]:
    counter: Counter[tuple[str, str | None]] = Counter()
    for row in rows:
        if _holds(row, scope):
            for value in values(row):
                counter[value] += row[4]
    ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or ""))
    return tuple(Facet(value, number, wing) for (value, wing), number in ordered[:_MOST])


def _holds(row: Row, scope: Scope) -> bool:
    wing, room, kind, tags, _ = row
    return (
        scope.wing in (None, wing)
        and scope.room in (None, room)
        and scope.source_kind in (None, kind)
        and set(scope.tags) <= set(tags)
    )
