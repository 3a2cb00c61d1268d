"""The chain of a drawer: everything it replaced and everything that replaced it."""

from __future__ import annotations

from dataclasses import dataclass

from palace.domain.records import Drawer
from palace.store.connection import Store
from palace.store.drawers import get_many
from palace.store.rows import drawer_ref

HOPS = 256  # the engine's own bound for one recursion
MOST = 10_000

_BOTH_WAYS = f"""
RETURN array::distinct(array::flatten($ids.map(|$id| array::concat(
    $id.{{..{HOPS}+collect}}.supersedes, $id.{{..{HOPS}+collect}}.superseded_by
)))).filter(|$id| $id IS NOT NONE).map(|$id| record::id($id))
"""


@dataclass(frozen=True)
class Chain:
    """Versions oldest first; ``missing`` are ids that links name and the palace does not hold."""

    versions: tuple[Drawer, ...]
    missing: tuple[str, ...] = ()
    truncated: bool = False


def chain(store: Store, ident: str, *, content: str = "none") -> Chain:
    """The whole chain from any member, in one round trip for every 256 links.

    Ends on cycles, on missing ends and after 10,000 versions.
    """
    found: dict[str, Drawer] = {}
    seen: set[str] = set()
    frontier = {ident}
    while frontier and len(found) < MOST:
        refs = [drawer_ref(one) for one in sorted(frontier)]
        near = frontier | {str(one) for one in store.query(_BOTH_WAYS, ids=refs)}
        seen |= near
        for one in get_many(store, sorted(near - set(found)), content=content):
            found[one.id] = one
        frontier = {link for one in found.values() for link in _links(one)} - seen
    versions = sorted(found.values(), key=lambda one: (one.valid_from, one.id))
    missing = tuple(sorted(seen - set(found) - {ident}))[:100]
    return Chain(tuple(versions[:MOST]), missing, bool(frontier))


def _links(drawer: Drawer) -> tuple[str, ...]:
    return drawer.supersedes + drawer.superseded_by


_COUNTS = """
SELECT VALUE [record::id(id), array::len($this.id.{..256+collect}.supersedes),
    array::len($this.id.{..256+collect}.superseded_by)]
FROM $ids
"""


def places_in_chain(store: Store, idents: list[str]) -> dict[str, tuple[int, int]]:
    """Per drawer: its version number from 1, and how many versions its line has (up to 256)."""
    if not idents:
        return {}
    rows = store.query(_COUNTS, ids=[drawer_ref(one) for one in idents])
    return {row[0]: (row[1] + 1, row[1] + row[2] + 1) for row in rows}
