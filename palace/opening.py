"""Which palace is open in this process: yours, or the demo while yours is not made yet."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from django.conf import settings

from palace.curation import CurationService
from palace.recall import RecallService
from palace.store.connection import Address, Store
from palace.store.guard import creating_file

EMPTY = Address("mem://empty")  # what is read while there is neither a palace nor a demo

_lock = threading.RLock()
_stores: dict[str, Store] = {}


def clock() -> int:
    """The present instant: whole microseconds since the epoch."""
    return time.time_ns() // 1_000


def palace_directory() -> Path:
    return Path(settings.MEMCASTLE_DATA_DIR) / "palace"


def demo_directory() -> Path:
    return Path(settings.MEMCASTLE_DATA_DIR) / "demo"


def palace_address() -> Address:
    """Where your palace lives by the settings."""
    url = settings.MEMCASTLE_PALACE_URL or f"surrealkv://{palace_directory()}"
    return Address(
        url,
        settings.MEMCASTLE_PALACE_NAMESPACE,
        settings.MEMCASTLE_PALACE_DATABASE,
        settings.MEMCASTLE_PALACE_USER,
        settings.MEMCASTLE_PALACE_PASSWORD,
    )


def demo_address() -> Address:
    return Address(f"surrealkv://{demo_directory()}")


def palace_is_made() -> bool:
    """Whether something was ever filed: reading alone makes no palace."""
    directory = palace_directory()
    return bool(settings.MEMCASTLE_PALACE_URL) or (
        creating_file(directory).exists() or (directory.is_dir() and any(directory.iterdir()))
    )


def showing_demo() -> bool:
    """Whether reads see the demo: no palace has been made, and a demo is there."""
    return not palace_is_made() and (demo_directory() / "manifest").exists()


def store(*, for_new: bool = False) -> Store:
    """The open store of this process; ``for_new`` takes new drawers and is never the demo."""
    if for_new or palace_is_made():
        return open_store(palace_address())
    return open_store(demo_address() if showing_demo() else EMPTY)


def open_store(address: Address) -> Store:
    """One store per address and process, opened at its first query."""
    with _lock:
        if address.url not in _stores:
            _stores[address.url] = Store(address)
        return _stores[address.url]


def close_stores() -> None:
    """Close all stores of this process: for commands that end, and for tests."""
    with _lock:
        while _stores:
            _stores.popitem()[1].close()


def recall() -> RecallService:
    """Reads over the palace that is shown."""
    return RecallService(
        index=store(),
        timeout_ms=settings.MEMCASTLE_SEARCH_TIMEOUT_MS,
        use_chronology=settings.MEMCASTLE_CHRONOLOGY,
    )


def curation(*, for_new: bool = False) -> CurationService:
    """Writes: new drawers make your palace; acts on a shown drawer stay where it is."""
    return CurationService(store(for_new=for_new), clock)
