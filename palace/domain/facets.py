"""Facet counts: how many drawers each alternative of a filter would leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from palace.domain.query import Scope
from palace.domain.results import Facet

# wing, room, kind, tags, project, branch, and how many drawers are alike in these
Row = tuple[str, str, str, tuple[str, ...], str | None, str | None, int]
MOST_FACETS = 200
Value = tuple[str | None, str]  # the wing a room lies in, and the value


def relaxed(scope: Scope) -> Scope:
    """The scope without the filters that facets offer alternatives to."""
    return replace(
        scope, wing=None, room=None, tags=(), source_kind=None, project=None, branch=None
    )


def is_relaxed(scope: Scope) -> bool:
    return relaxed(scope) == scope


def facets_of(rows: Iterable[Row], scope: Scope) -> dict[str, tuple[Facet, ...]]:
    """Counts per wing, room, kind, tag, project and branch. A filter never removes its own

    alternatives: each facet is counted with all filters but its own.
    """
    counted: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        counted[row[:-1]] += row[-1]
    kept: list[Row] = [(*row, number) for row, number in counted.items()]  # type: ignore[misc]
    return {
        "wing": _count(kept, replace(scope, wing=None, room=None), lambda row: [(None, row[0])]),
        "room": _count(kept, replace(scope, room=None), lambda row: [(row[0], row[1])]),
        "source_kind": _count(kept, replace(scope, source_kind=None), lambda row: [(None, row[2])]),
        "tag": _count(kept, replace(scope, tags=()), lambda row: [(None, tag) for tag in row[3]]),
        "project": _count(kept, replace(scope, project=None), lambda row: _present(row[4])),
        "branch": _count(kept, replace(scope, branch=None), lambda row: _present(row[5])),
    }


def ordered(values: Iterable[tuple[Value, int]]) -> tuple[Facet, ...]:
    """Most frequent first, then by name; at most 200."""
    listed = sorted(values, key=lambda one: (-one[1], one[0][1], one[0][0] or ""))
    return tuple(Facet(value, number, wing) for (wing, value), number in listed[:MOST_FACETS])


def _present(value: str | None) -> list[Value]:
    return [(None, value)] if value else []


def _count(
    rows: list[Row], scope: Scope, values: Callable[[Row], list[Value]]
) -> tuple[Facet, ...]:
    counter: Counter[Value] = Counter()
    for row in rows:
        if _holds(row, scope):
            for value in values(row):
                counter[value] += row[-1]
    return ordered(counter.items())


def _holds(row: Row, scope: Scope) -> bool:
    wing, room, kind, tags, project, branch, _ = row
    return (
        scope.wing in (None, wing)
        and scope.room in (None, room)
        and scope.source_kind in (None, kind)
        and scope.project in (None, project)
        and scope.branch in (None, branch)
        and set(scope.tags) <= set(tags)
    )
