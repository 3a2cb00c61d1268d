"""Cells of the chronology as columns, so that masks and sums run over whole arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palace.domain.query import Scope
from palace.store.scope import Branches, pair

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]


class Cell(NamedTuple):
    """What drawers are counted by: those of one cell differ only in time."""

    wing: str
    room: str
    kind: str
    tags: tuple[str, ...]
    project: str | None
    branch: str | None


@dataclass
class Names:
    """Values and their codes, in the order they were met."""

    values: list[object] = field(default_factory=list)
    codes: dict[object, int] = field(default_factory=dict)

    def code(self, value: object) -> int:
        """The value's code, new ones included."""
        found = self.codes.get(value)
        if found is None:
            found = self.codes[value] = len(self.values)
            self.values.append(value)
        return found


class Cells:
    """A growing table of cells. Not safe by itself: the chronology holds its lock."""

    def __init__(self) -> None:
        self.rows: list[Cell] = []
        self.wings, self.rooms, self.kinds, self.tags = Names(), Names(), Names(), Names()
        self.projects, self.branches = Names(), Names()
        self._codes: dict[Cell, int] = {}
        self._listed: list[tuple[int, ...]] = []
        self._tagged: list[tuple[int, int]] = []
        self._columns: Columns | None = None

    def code(self, cell: Cell) -> int:
        """The cell's number, a new one included."""
        found = self._codes.get(cell)
        if found is None:
            found = self._codes[cell] = len(self.rows)
            self.rows.append(cell)
            room = self.rooms.code((cell.wing, cell.room))
            places = (self.wings.code(cell.wing), room, self.kinds.code(cell.kind))
            source = (self.projects.code(cell.project), self.branches.code(cell.branch))
            self._listed.append((*places, *source))
            self._tagged.extend((found, self.tags.code(tag)) for tag in dict.fromkeys(cell.tags))
        return found

    def columns(self) -> Columns:
        """The table as arrays; made anew only when cells were added."""
        if self._columns is None or self._columns.size != len(self.rows):
            listed = np.array(self._listed, np.int32).reshape(-1, 5)
            tagged = np.array(self._tagged, np.int32).reshape(-1, 2)
            self._columns = Columns(self, len(self.rows), listed, tagged)
        return self._columns


@dataclass(frozen=True)
class Columns:
    """An immutable picture of the table: codes of five columns, and (cell, tag) pairs."""

    cells: Cells
    size: int
    listed: Codes
    tagged: Codes

    @property
    def wing(self) -> Codes:
        return self.listed[:, 0]

    @property
    def room(self) -> Codes:
        return self.listed[:, 1]

    @property
    def kind(self) -> Codes:
        return self.listed[:, 2]

    @property
    def project(self) -> Codes:
        return self.listed[:, 3]

    @property
    def branch(self) -> Codes:
        return self.listed[:, 4]

    def all(self) -> Mask:
        return np.ones(self.size, bool)

    def in_place(self, scope: Scope) -> Mask:
        """Cells of the scope's wing and room; a room without a wing is any of that name."""
        mask = self.all()
        if scope.wing is not None:
            mask &= self.wing == self.cells.wings.codes.get(scope.wing, -1)
        if scope.room is not None:
            named = [value[1] == scope.room for value in self.cells.rooms.values]  # type: ignore[index]
            mask &= np.array([*named, False], bool)[self.room]
        return mask

    def of_kind(self, scope: Scope) -> Mask:
        return self._equal(self.kind, self.cells.kinds, scope.source_kind)

    def with_tags(self, scope: Scope) -> Mask:
        """Cells that carry all of the scope's tags."""
        mask = self.all()
        for tag in scope.tags:
            has = np.zeros(self.size, bool)
            has[self.tagged[self.tagged[:, 1] == self.cells.tags.codes.get(tag, -1), 0]] = True
            mask &= has
        return mask

    def of_project(self, scope: Scope) -> Mask:
        return self._equal(self.project, self.cells.projects, scope.project)

    def of_branch(self, scope: Scope) -> Mask:
        return self._equal(self.branch, self.cells.branches, scope.branch)

    def fresh(self, scope: Scope, branches: Branches) -> Mask:
        """Cells without (or only) those of branches that are gone from a known project."""
        if scope.stale == "include" or (scope.stale == "hide" and not branches.projects):
            return self.all()
        projects, living = set(branches.projects), set(branches.living)

        def gone(cell: Cell) -> bool:
            project = cell.project or ""
            known = cell.branch is not None and project in projects
            return known and pair(project, cell.branch or "") not in living

        rows = self.cells.rows[: self.size]
        stale = np.fromiter((gone(cell) for cell in rows), bool, self.size)
        return stale if scope.stale == "only" else ~stale

    def _equal(self, column: Codes, names: Names, value: str | None) -> Mask:
        if value is None:
            return self.all()
        wanted: Mask = column == names.codes.get(value, -1)
        return wanted

    def within(self, scope: Scope, branches: Branches) -> Mask:
        """All clauses but time: the same rule as `scope.fragment`."""
        return (
            self.in_place(scope)
            & self.of_kind(scope)
            & self.with_tags(scope)
            & self.of_project(scope)
            & self.of_branch(scope)
            & self.fresh(scope, branches)
        )
