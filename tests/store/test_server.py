"""The same store on a SurrealDB server: runs where one is named, else says why not."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from palace.curation import CurationService, NewDrawer
from palace.domain.query import Scope
from palace.domain.records import new_id
from palace.domain.time import Temporal
from palace.recall import RecallService
from palace.store.connection import Address, Store

URL = os.environ.get("MEMCASTLE_TEST_WS_URL", "")
pytestmark = pytest.mark.skipif(
    not URL, reason="no SurrealDB server: set MEMCASTLE_TEST_WS_URL (and _USER, _PASSWORD)"
)
NOW = 1_800_000_000_000_000


@pytest.fixture
def address() -> Address:
    """A database of its own on the server."""
    return Address(
        URL,
        "memcastle_test",
        f"palace_{new_id()}",
        os.environ.get("MEMCASTLE_TEST_WS_USER", ""),
        os.environ.get("MEMCASTLE_TEST_WS_PASSWORD", ""),
    )


@pytest.fixture
def served(address: Address) -> Iterator[Store]:
    opened = Store(address)
    yield opened
    opened.close()


def test_it_files_supersedes_searches_and_counts(served: Store, address: Address) -> None:
    times = iter(range(NOW, NOW + 10**9, 10**6))
    curation = CurationService(served, lambda: next(times), "ada")
    old = curation.file_drawer(NewDrawer("w", "r", "the tide comes at noon", name="tide")).drawer
    new = curation.supersede(old.id, "the tide comes at one").drawer
    other = Store(address)
    for store in (served, other):
        recall = RecallService(store)
        later = Scope(Temporal.as_of(NOW + 10**9))
        before = Scope(Temporal.as_of(new.valid_from - 1))
        assert [hit.drawer.id for hit in recall.search("tide", filter=later).hits] == [new.id]
        assert [hit.drawer.id for hit in recall.search("tide", filter=before).hits] == [old.id]
        assert (recall.count(later), recall.count(Scope(Temporal.history()))) == (1, 2)
        assert [one.id for one in recall.chain(new.id).versions] == [old.id, new.id]
    other.close()


def test_a_database_that_is_no_palace_is_refused(address: Address) -> None:
    from palace.domain.errors import StoreDamaged

    made = Store(address)
    made.query("CREATE something SET x = 1")
    made.write("DELETE meta")
    made.close()
    with pytest.raises(StoreDamaged):
        Store(address).open()
