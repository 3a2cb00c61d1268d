"""Counts, facets and change points of a scope: from the chronology, or from the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from palace.domain.query import Scope
from palace.domain.time import Temporal
from palace.store.branches import known_branches
from palace.store.chronology import Cell, resident
from palace.store.connection import Store
from palace.store.scope import Branches, fragment, pair

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


def census(store: Store, scope: Scope, *, use_chronology: bool = True) -> Census:
    """How many drawers of the scope there are, by cell."""
    if use_chronology and scope.is_countable:
        chronology = resident(store)
        counts = chronology.counts(scope.time)
        wanted = _wanted(scope, known_branches(store))
        pairs = zip(chronology.cells, counts.tolist(), strict=False)
        return Counter({cell: n for cell, n in pairs if n and wanted(cell)})
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
        wanted = None if scope.is_whole else _wanted(scope, known_branches(store))
        return Changes(*resident(store).changes(wanted))
    where = fragment(scope, known_branches(store))
    unknown = "" if scope.time.known_at is None else "OR closed_at > $s_known"
    sql = _CHANGES.format(scope=where.sql, unknown=unknown)
    rows = store.query(sql, **where.variables)
    lasting = [(start, end) for start, end in rows if end is None or end > start]
    began = np.sort(np.array([start for start, _ in lasting], np.int64))
    ended = np.sort(np.array([end for _, end in lasting if end is not None], np.int64))
    return Changes(began, ended)


def _wanted(scope: Scope, branches: Branches) -> Callable[[Cell], bool]:
    """The scope's clauses on what a cell knows; the same rule as `scope.fragment`."""
    tags = set(scope.tags)
    equal = [
        (position, value)
        for position, value in enumerate(
            (scope.wing, scope.room, scope.source_kind, None, scope.project, scope.branch)
        )
        if value is not None
    ]
    projects, living = set(branches.projects), set(branches.living)

    def is_stale(cell: Cell) -> bool:
        return (
            cell.branch is not None
            and (cell.project or "") in projects
            and pair(cell.project or "", cell.branch) not in living
        )

    def wanted(cell: Cell) -> bool:
        if any(cell[position] != value for position, value in equal) or not tags <= set(cell.tags):
            return False
        if scope.stale == "include" or (scope.stale == "hide" and not projects):
            return True
        return is_stale(cell) == (scope.stale == "only")

    return wanted
