"""The store: one connection, opened at the first query, behind a small synchronous face."""

from __future__ import annotations

import atexit
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surrealdb import AsyncSurreal

from palace.domain.errors import OperationFailed, PalaceError, StoreLocked
from palace.store import guard, schema
from palace.store.errors import DRIVER_ERRORS, is_conflict, translate
from palace.store.loop import LoopThread

TRIES = 5
_PLACE = "Set MEMCASTLE_DATA_DIR to a directory that this program may write."


@dataclass(frozen=True)
class Address:
    """Where a palace lives: ``mem://``, ``surrealkv://PATH`` or ``ws(s)://HOST``."""

    url: str
    namespace: str = "memcastle"
    database: str = "palace"
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Address({self.url!r})"

    @property
    def is_server(self) -> bool:
        return self.url.startswith(("ws://", "wss://"))

    @property
    def directory(self) -> Path | None:
        """The files of an embedded store, or None."""
        scheme, _, rest = self.url.partition("://")
        path, _, options = rest.partition("?")
        is_path = options and ("/" in options or "=" not in options)  # refused by the guard
        return Path(rest if is_path else path) if scheme.startswith("surrealkv") else None


class Store:
    """A palace's database. Safe for many threads; writes go one after the other.

    Reads are cancelled at their ``timeout`` (seconds); a write that has begun is awaited and its
    real outcome told. All driver errors come out as `PalaceError`.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.version = 0  # grows with every write; caches compare it
        self.caches: dict[str, Any] = {}  # what readers derive and keep, by their own names
        self._loop = LoopThread()
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._client: Any = None
        self._closed = False
        _stores.add(self)

    def query(self, sql: str, /, timeout: float | None = None, **variables: Any) -> Any:
        """The result of the last statement of ``sql`` with bound ``variables``."""
        return self.query_all(sql, timeout=timeout, **variables)[-1]

    def query_all(self, sql: str, /, timeout: float | None = None, **variables: Any) -> list[Any]:
        """The results of all statements."""
        client = self._opened()
        try:
            results = self._loop.run(_execute(client, sql, variables), timeout or None)
        except DRIVER_ERRORS as error:
            raise translate(error) from error
        return list(results)

    def write(
        self, sql: str, /, after: Callable[[Any], None] | None = None, **variables: Any
    ) -> Any:
        """Run one atomic block under the writer's lock; write conflicts are tried again.

        ``after`` sees the result before the lock is given back: what keeps caches in step.
        """
        client = self._opened()
        with self._writing:
            result = self._write(client, sql, variables)
            self.version += 1
            if after is not None:
                after(result)
            return result

    @contextmanager
    def paused_writes(self) -> Iterator[None]:
        """No write of this process commits inside: for scans that fill a cache."""
        with self._writing:
            yield

    def _write(self, client: Any, sql: str, variables: dict[str, Any]) -> Any:
        for attempt in range(TRIES):
            try:
                return self._loop.run(_execute(client, sql, variables))[-1]
            except DRIVER_ERRORS as error:
                if not is_conflict(error) or attempt == TRIES - 1:
                    raise translate(error) from error
            time.sleep(random.uniform(0.5, 1.5) * 0.01 * 2**attempt)
        raise AssertionError("unreachable")

    def open(self) -> None:
        """Open now instead of at the first query."""
        self._opened()

    def close(self) -> None:
        """Close for good, after a write that has begun; reads are cancelled.

        The engine needs a moment before the interpreter may end.
        """
        with self._writing, self._opening:
            self._closed = True
            client, self._client = self._client, None
            if client is not None:
                self._loop.run(client.close())
                time.sleep(0.2)
            self._loop.stop()

    @property
    def is_open(self) -> bool:
        return self._client is not None

    def _opened(self) -> Any:
        if self._client is None:
            with self._opening:
                if self._closed:
                    raise OperationFailed("The palace is closed.", code="memcastle::store::closed")
                if self._client is None:
                    self._client = self._open()
        return self._client

    def _open(self) -> Any:
        directory = self.address.directory
        try:
            creating = guard.check_before_open(directory) if directory else True
            client = self._loop.run(self._connect())
        except OSError as error:
            raise OperationFailed(f"The palace cannot be opened: {error}", help=_PLACE) from error
        except DRIVER_ERRORS as error:
            raise self._refusal(error) from error
        try:
            self._loop.run(schema.prepare(client, self.address, creating))
        except BaseException as error:
            self._loop.run(client.close())
            raise translate(error) if isinstance(error, DRIVER_ERRORS) else error from error
        if directory:
            guard.creating_file(directory).unlink(missing_ok=True)
        return client

    async def _connect(self) -> Any:
        client = AsyncSurreal(self.address.url)
        await client.connect()
        if self.address.user:
            secrets: Any = {"username": self.address.user, "password": self.address.password}
            await client.signin(secrets)
        await client.use(self.address.namespace, self.address.database)
        return client

    def _refusal(self, error: Exception) -> PalaceError:
        if "already locked" not in str(error):
            return translate(error)
        return StoreLocked(
            f"The palace in {self.address.directory} is open in another process.",
            help="Stop the server or command that holds it, or work through that server.",
        )


async def _execute(client: Any, sql: str, variables: dict[str, Any]) -> list[Any]:
    results: list[Any] = await client.query(sql, variables).execute()
    return results


_stores: weakref.WeakSet[Store] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for store in list(_stores):
        store.close()
