"""The vectors of a palace as one float32 matrix in the process that owns the store.

A cache of the table `embedding`, never on disk: loaded at the first question by meaning (about two
seconds for 100,000 vectors, 300 MB), then extended by every write. One product ranks everything.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palace.domain.embedding import EMBEDDING_DIMENSION, Vector
from palace.domain.errors import PalaceError
from palace.store.connection import Store
from palace.store.rows import drawer_ref

PAGE = 5_000
CACHE = "resident"
LISTENERS = "embedding_listeners"
ROW_BYTES = EMBEDDING_DIMENSION * 4
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Passage:
    """A stretch of a drawer's text, in code points."""

    start: int
    end: int


class Resident:
    """Rows of vectors with their drawer, passage and model. Safe for many readers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._matrix: Floats = np.empty((0, EMBEDDING_DIMENSION), np.float32)
        self._used = 0
        self._slots: NDArray[np.int64] = np.empty(0, np.int64)  # row to drawer, -1 when gone
        self._models: NDArray[np.int32] = np.empty(0, np.int32)
        self._passages: list[Passage] = []
        self._rows: dict[int, list[int]] = {}
        self.drawers: list[str] = []
        self._places: dict[str, int] = {}
        self.models: list[str] = []

    def put(self, rows: Iterable[Sequence[Any]], *, gone: Iterable[str] = ()) -> None:
        """Take rows ``[drawer, start, end, model, packed]``; first forget those of ``gone``."""
        with self._lock:
            for drawer in gone:
                for row in self._rows.pop(self._places.get(drawer, -1), ()):
                    self._slots[row] = -1
            for drawer, start, end, model, packed in rows:
                self._append(drawer, Passage(start, end), model, packed)

    def _append(self, drawer: str, passage: Passage, model: str, packed: bytes) -> None:
        if self._used == len(self._matrix):
            self._grow(max(1024, 2 * self._used))
        slot = self._places.setdefault(drawer, len(self.drawers))
        if slot == len(self.drawers):
            self.drawers.append(drawer)
        row = self._used
        self._matrix[row] = np.frombuffer(packed, "<f4")
        self._slots[row] = slot
        self._models[row] = self._model(model)
        self._passages.append(passage)
        self._rows.setdefault(slot, []).append(row)
        self._used += 1

    def _grow(self, size: int) -> None:
        for name in ("_matrix", "_slots", "_models"):
            old = getattr(self, name)
            grown = np.zeros((size, *old.shape[1:]), old.dtype)
            grown[: self._used] = old[: self._used]
            setattr(self, name, grown)

    def _model(self, name: str) -> int:
        if name not in self.models:
            self.models.append(name)
        return self.models.index(name)

    def embedded(self, model: str) -> int:
        """How many drawers have a vector of a model."""
        with self._lock:
            slots, models = self._slots[: self._used], self._models[: self._used]
            code = self.models.index(model) if model in self.models else -1
            return len(np.unique(slots[(slots >= 0) & (models == code)]))

    def similarities(self, model: str, query: Vector) -> Floats:
        """The best cosine of each drawer's passages, by place in ``drawers``; -2 without one."""
        with self._lock:
            matrix, slots = self._matrix[: self._used], self._slots[: self._used].copy()
            code = self.models.index(model) if model in self.models else -1
            usable = (slots >= 0) & (self._models[: self._used] == code)
            best = np.full(len(self.drawers), -2, np.float32)
        scores = matrix @ query
        np.maximum.at(best, slots[usable], scores[usable])
        return best

    def passage(self, model: str, drawer: str, query: Vector) -> Passage | None:
        """Which passage of a drawer is nearest."""
        with self._lock:
            code = self.models.index(model) if model in self.models else -1
            rows = self._rows.get(self._places.get(drawer, -1), ())
            mine = [row for row in rows if self._models[row] == code]
            if not mine:
                return None
            return self._passages[max(mine, key=lambda row: float(self._matrix[row] @ query))]

    def places(self, drawers: Iterable[str]) -> NDArray[np.int64]:
        """Places of those drawers that have vectors."""
        known = (self._places.get(drawer, -1) for drawer in drawers)
        return np.array([place for place in known if place >= 0], np.int64)


_COUNT = "SELECT VALUE n FROM ONLY (SELECT count() AS n FROM embedding GROUP ALL) LIMIT 1"
_FIELDS = "record::id(id), record::id(drawer), start, end, model, vector"
_LOAD = f"SELECT VALUE [{_FIELDS}] FROM type::record('embedding', $start..) LIMIT $page"
_OF = f"SELECT VALUE [{_FIELDS}] FROM embedding WITH INDEX embedding_drawer WHERE drawer IN $ids"


def resident(store: Store, max_mb: int) -> Resident:
    """The store's matrix, loaded at its first use; refused above ``max_mb`` megabytes."""
    cached: Resident | None = store.caches.get(CACHE)
    if cached is None:
        with store.paused_writes():
            cached = store.caches.get(CACHE)
            if cached is None:
                cached = _load(store, max_mb)
                store.caches[CACHE] = cached
                listeners = store.caches.setdefault(LISTENERS, [])
                listeners.append(lambda drawers: refresh(store, drawers))
    return cached


def _load(store: Store, max_mb: int) -> Resident:
    number = int(store.query(_COUNT) or 0)
    needed = -(-number * ROW_BYTES // 1_000_000)
    if needed > max_mb:
        raise PalaceError(
            f"The vectors need {needed:,} MB in memory; {max_mb:,} MB are allowed.",
            code="memcastle::search::resident_limit",
            help="Raise MEMCASTLE_RESIDENT_MAX_MB, or search with ranking=lexical.",
            status=503,
        )
    loaded, start = Resident(), ""
    while True:
        rows = store.query(_LOAD, start=start, page=PAGE)
        loaded.put([row[1:] for row in rows if row[0] != start])
        if len(rows) < PAGE:
            return loaded
        start = rows[-1][0]


def refresh(store: Store, drawers: Sequence[str]) -> None:
    """Take over what was written of some drawers. Called under the writer's lock."""
    cached: Resident | None = store.caches.get(CACHE)
    if cached is not None:
        rows = store.query(_OF, ids=[drawer_ref(one) for one in drawers])
        cached.put([row[1:] for row in rows], gone=drawers)
