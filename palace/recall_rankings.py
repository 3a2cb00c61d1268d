"""Rankings kept between the pages of one answer.

A later write moves BM25's weights, so a page computed anew could repeat or lose hits. The ranking
of a first page is kept under what its cursor pins; the latest 64 are.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from palace.domain.errors import Notice
from palace.domain.query import Cursor, Scope
from palace.recall_paging import pinned
from palace.store.connection import Store
from palace.store.search import Match

MOST = 64
Key = tuple[str, Scope]
_lock = threading.Lock()


def ranking(
    store: Store,
    text: str,
    filter: Scope,
    cursor: Cursor | None,
    rank: Callable[[Scope], list[Match]],
) -> tuple[list[Match], tuple[Notice, ...]]:
    """The whole ranking a page is cut from; told when a later page had to be ranked anew."""
    kept: OrderedDict[Key, list[Match]] = store.caches.setdefault("rankings", OrderedDict())
    key = (text, pinned(filter, cursor or _first(filter)))
    if cursor is not None:
        with _lock:
            if key in kept:
                kept.move_to_end(key)
                return kept[key], ()
    found = rank(pinned(filter, cursor))
    with _lock:
        kept[key] = found
        while len(kept) > MOST:
            kept.popitem(last=False)
    return found, () if cursor is None else (_ANEW,)


def _first(filter: Scope) -> Cursor:
    """What the first page's cursor will pin."""
    known = filter.time.known_at if filter.time.known_at is not None else filter.asked_at
    return Cursor(0, "", filter.time.instant, known)


_ANEW = Notice(
    "memcastle::search::ranked_anew",
    "This page was ranked anew: if memory changed since the first one, hits may repeat.",
)
