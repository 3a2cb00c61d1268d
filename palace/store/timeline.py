"""Counts, facets and change points of a scope: from the chronology, or from the database."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palace.domain.facets import facets_of, ordered, relaxed
from palace.domain.query import Scope
from palace.domain.results import Facet
from palace.domain.time import Temporal
from palace.store.branches import known_branches
from palace.store.cells import Cell, Codes
from palace.store.chronology import resident
from palace.store.connection import Store
from palace.store.scope import fragment

Times = NDArray[np.int64]
Census = Counter[Cell]


@dataclass(frozen=True)
class Changes:
    """Sorted instants at which the drawers of a scope began and ended, whatever the instant."""

    began: Times
    ended: Times

    @property
    def first(self) -> int | None:
        return int(self.began[0]) if len(self.began) else None

    def previous(self, instant: int) -> int | None:
        """The last change before an instant."""
        found = [part[np.searchsorted(part, instant) - 1] for part in self._before(instant)]
        return int(max(found)) if found else None

    def next(self, instant: int) -> int | None:
        """The first change after an instant."""
        found = []
        for part in (self.began, self.ended):
            position = np.searchsorted(part, instant, "right")
            if position < len(part):
                found.append(part[position])
        return int(min(found)) if found else None

    def _before(self, instant: int) -> list[Times]:
        return [part for part in (self.began, self.ended) if np.searchsorted(part, instant) > 0]


_CENSUS = """
SELECT wing.name AS wing, room.name AS room, source.kind AS kind, tags,
    source.project AS project, source.branch AS branch, count() AS n
FROM drawer WITH NOINDEX WHERE {scope} GROUP BY wing, room, kind, tags, project, branch
"""


def count(store: Store, scope: Scope, *, use_chronology: bool = True) -> int:
    """How many drawers a scope holds."""
    if use_chronology and scope.is_countable:
        counts, columns = resident(store).counts(scope.time)
        return int(counts[columns.within(scope, known_branches(store))].sum())
    return sum(census(store, scope, use_chronology=False).values())


def room_counts(
    store: Store, scope: Scope, *, use_chronology: bool = True
) -> dict[tuple[str, str], int]:
    """``(wing, room)`` to its number of drawers; rooms with none are left out."""
    if not (use_chronology and scope.is_countable):
        found: Counter[tuple[str, str]] = Counter()
        for cell, number in census(store, scope, use_chronology=False).items():
            found[cell.wing, cell.room] += number
        return dict(found)
    counts, columns = resident(store).counts(scope.time)
    kept = np.where(columns.within(scope, known_branches(store)), counts, 0)
    return {
        (str(wing), str(room)): number
        for (wing, room), number in _by_code(columns.room, kept, columns.cells.rooms.values)
    }


def facets(
    store: Store, scope: Scope, *, use_chronology: bool = True
) -> dict[str, tuple[Facet, ...]]:
    """Each filter's alternatives with the number of drawers they would leave."""
    if not (use_chronology and scope.is_countable):
        counted = census(store, relaxed(scope), use_chronology=False)
        return facets_of([(*cell, number) for cell, number in counted.items()], scope)
    counts, columns = resident(store).counts(scope.time)
    counts = np.where(columns.fresh(scope, known_branches(store)), counts, 0)
    place, kind, tags = columns.in_place(scope), columns.of_kind(scope), columns.with_tags(scope)
    project, branch = columns.of_project(scope), columns.of_branch(scope)
    source, in_wing = project & branch, columns.in_place(replace(scope, room=None))
    names = columns.cells
    tagged = np.where(place & kind & source, counts, 0)[columns.tagged[:, 0]]
    within, narrowed = place & kind & tags, kind & tags & source
    return {
        "wing": _facets(columns.wing, counts * narrowed, names.wings.values),
        "room": _facets(
            columns.room, counts * (in_wing & kind & tags & source), names.rooms.values
        ),
        "source_kind": _facets(columns.kind, counts * (place & tags & source), names.kinds.values),
        "tag": _facets(columns.tagged[:, 1], tagged, names.tags.values),
        "project": _facets(columns.project, counts * (within & branch), names.projects.values),
        "branch": _facets(columns.branch, counts * (within & project), names.branches.values),
    }


def _by_code(codes: Codes, numbers: Times, values: list[Any]) -> list[tuple[Any, int]]:
    sums = np.bincount(codes, weights=numbers, minlength=len(values)).astype(np.int64).tolist()
    return [(value, number) for value, number in zip(values, sums, strict=False) if number]


def _facets(codes: Codes, numbers: Times, values: list[Any]) -> tuple[Facet, ...]:
    pairs = _by_code(codes, numbers, values)
    return ordered(
        (value if isinstance(value, tuple) else (None, value), number)
        for value, number in pairs
        if value is not None
    )


def census(store: Store, scope: Scope, *, use_chronology: bool = True) -> Census:
    """How many drawers of the scope there are, by cell."""
    if use_chronology and scope.is_countable:
        counts, columns = resident(store).counts(scope.time)
        kept = np.flatnonzero(columns.within(scope, known_branches(store)) & (counts > 0))
        return Counter({columns.cells.rows[code]: int(counts[code]) for code in kept})
    where = fragment(scope, known_branches(store))
    rows = store.query(_CENSUS.format(scope=where.sql), **where.variables)
    result: Census = Counter()
    for row in rows:
        number = row.pop("n")
        result[Cell(**{**row, "tags": tuple(row["tags"])})] += number
    return result


_CHANGES = """
SELECT VALUE [time::micros(valid_from), (IF valid_to IS NONE {unknown} THEN NONE
    ELSE time::micros(valid_to) END)]
FROM drawer WITH NOINDEX WHERE {scope}
"""


def changes(store: Store, scope: Scope, *, use_chronology: bool = True) -> Changes:
    """Every beginning and end in the scope, over all of time (``known_at`` still narrows)."""
    scope = replace(scope, time=Temporal.history(scope.time.known_at))
    if use_chronology and scope.is_countable:
        branches = known_branches(store)
        whole = scope.is_whole or (
            not branches.projects and replace(scope, stale="include").is_whole
        )
        wanted = None if whole else lambda columns: columns.within(scope, branches)
        return Changes(*resident(store).changes(wanted))
    where = fragment(scope, known_branches(store))
    unknown = "" if scope.time.known_at is None else "OR closed_at > $s_known"
    sql = _CHANGES.format(scope=where.sql, unknown=unknown)
    rows = store.query(sql, **where.variables)
    lasting = [(start, end) for start, end in rows if end is None or end > start]
    began = np.sort(np.array([start for start, _ in lasting], np.int64))
    ended = np.sort(np.array([end for _, end in lasting if end is not None], np.int64))
    return Changes(began, ended)
