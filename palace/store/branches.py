"""The registry of branches: which ones live, per project. Unknown projects hide nothing."""

from __future__ import annotations

from palace.store.connection import Store
from palace.store.scope import Branches, pair

_ALL = "SELECT VALUE [project, name] FROM branch"


def known_branches(store: Store) -> Branches:
    """The registry as the scope wants it; kept until the next write."""
    version = store.version
    cached: tuple[int, Branches] | None = store.caches.get("branches")
    if cached and cached[0] == version and not store.address.is_server:
        return cached[1]
    rows = store.query(_ALL)
    projects = tuple(sorted({project for project, _ in rows}))
    living = tuple(sorted(pair(project, name) for project, name in rows if name))
    store.caches["branches"] = (version, Branches(projects, living))
    return Branches(projects, living)
