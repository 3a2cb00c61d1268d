"""Which palace is open in this process: yours, or the demo while yours is not made yet."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from django.conf import settings

from palace.curation import CurationService
from palace.embedding import service as background
from palace.embedding.provider import EmbedSettings, Provider, Secret, build_provider
from palace.recall import RecallService
from palace.store import chronology
from palace.store.connection import Address, Store
from palace.store.guard import creating_file

EMPTY = Address("mem://empty")  # what is read while there is neither a palace nor a demo

_lock = threading.RLock()
_serving = False
_stores: dict[str, Store] = {}
_providers: dict[str, tuple[EmbedSettings, Provider | None]] = {}


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
            opened = _stores[address.url] = Store(address)
            if _serving:
                _embed_after_writes(opened)
        return _stores[address.url]


def start_serving() -> None:
    """This process is a server: it embeds what has no vector, now and after every write."""
    global _serving  # noqa: PLW0603
    with _lock:
        if not _serving:
            _serving = True
            for opened in _stores.values():
                _embed_after_writes(opened)
    if embedder() is not None:
        wake_embedding(store())


def _embed_after_writes(opened: Store) -> None:
    listeners = opened.caches.setdefault(chronology.LISTENERS, [])
    listeners.append(lambda: wake_embedding(opened))


def wake_embedding(opened: Store) -> None:
    """Let the embed thread look for work; nothing without a provider. Never waits."""
    background.wake(opened, embedder(), embed_settings(), clock)


def close_stores() -> None:
    """Close all stores of this process: for commands that end, and for tests.

    They are closed outside the lock: a write that is awaited may need it to find the provider.
    """
    with _lock:
        stores, providers = list(_stores.values()), list(_providers.values())
        _stores.clear()
        _providers.clear()
    for opened in stores:
        background.close(opened)
    for _, provider in providers:
        if provider is not None:
            provider.close()
    for opened in stores:
        opened.close()


def embed_settings() -> EmbedSettings:
    """The ``MEMCASTLE_EMBED_*`` settings as the providers take them."""
    return EmbedSettings(
        provider=settings.MEMCASTLE_EMBED_PROVIDER,
        command=settings.MEMCASTLE_EMBED_COMMAND,
        command_env=settings.MEMCASTLE_EMBED_COMMAND_ENV,
        url=settings.MEMCASTLE_EMBED_URL,
        model=settings.MEMCASTLE_EMBED_MODEL,
        api_key=Secret(settings.MEMCASTLE_EMBED_API_KEY),
        dimensions=settings.MEMCASTLE_EMBED_DIMENSIONS or None,
        native_dimension=settings.MEMCASTLE_EMBED_NATIVE_DIMENSION or None,
        query_prefix=settings.MEMCASTLE_EMBED_QUERY_PREFIX,
        passage_prefix=settings.MEMCASTLE_EMBED_PASSAGE_PREFIX,
        passages=settings.MEMCASTLE_EMBED_PASSAGES,
        passage_chars=settings.MEMCASTLE_EMBED_PASSAGE_CHARS,
        passage_overlap=settings.MEMCASTLE_EMBED_PASSAGE_OVERLAP,
    )


def embedder() -> Provider | None:
    """The provider of the settings, one per process; None when none is set."""
    wanted = embed_settings()
    with _lock:
        kept = _providers.get(wanted.provider)
        if kept is None or kept[0] != wanted:
            if kept is not None and kept[1] is not None:
                kept[1].close()
            kept = _providers[wanted.provider] = (wanted, build_provider(wanted))
        return kept[1]


def recall() -> RecallService:
    """Reads over the palace that is shown."""
    return RecallService(
        index=store(),
        embedder=embedder(),
        resident_max_mb=settings.MEMCASTLE_RESIDENT_MAX_MB,
        timeout_ms=settings.MEMCASTLE_SEARCH_TIMEOUT_MS,
        use_chronology=settings.MEMCASTLE_CHRONOLOGY,
    )


def curation(*, for_new: bool = False) -> CurationService:
    """Writes: new drawers make your palace; acts on a shown drawer stay where it is."""
    return CurationService(store(for_new=for_new), clock)
