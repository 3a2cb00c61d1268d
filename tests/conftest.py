"""What all tests share: a derandomised hypothesis profile, a palace in memory, and drawers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from palace.domain.records import Drawer, content_hash
from palace.store import drawers
from palace.store.connection import Address, Store
from palace.store.rows import stored
from tests.oracle import LIVING, START, world

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("ci")

MakeDrawer = Callable[..., Drawer]


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty palace in memory."""
    opened = Store(Address("mem://"))
    yield opened
    opened.close()


@pytest.fixture
def make_drawer() -> MakeDrawer:
    """Builds drawers that differ in id and text; every field can be given."""
    numbers = count(1)

    def build(**given: Any) -> Drawer:
        number = next(numbers)
        content = given.pop("content", f"memory {number:04d}")
        fields: dict[str, Any] = {
            "id": f"d{number:04d}",
            "wing": "atlas",
            "room": "routes",
            "source": {"kind": "manual"},
            "valid_from": 1_000,
            "created_at": 1_000,
        }
        return Drawer(content=content, content_hash=content_hash(content), **(fields | given))

    return build


@dataclass(frozen=True, repr=False)
class Planted:
    """The oracle's world, and the palace that holds it. For reading only."""

    store: Store
    rows: list[Drawer]


@pytest.fixture(scope="session")
def planted() -> Iterator[Planted]:
    """One palace in memory for all tests that only read."""
    opened = Store(Address("mem://"))
    yield Planted(opened, plant(opened))
    opened.close()


def plant(store: Store) -> list[Drawer]:
    """Put the oracle's world and its registry of branches into an empty palace."""
    rows = world()
    for row in rows:
        drawers.file(store, row)
    branches = [
        {"project": project, "name": name, "synced_at": stored(START)} for project, name in LIVING
    ]
    store.write("INSERT INTO branch $rows", rows=branches)
    return rows
