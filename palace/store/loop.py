"""One private event-loop thread for the asynchronous client.

The synchronous client holds the interpreter's lock for a whole statement, so one slow search
would freeze every thread; the asynchronous one releases it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from palace.domain.errors import OperationFailed, TimedOut

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for other threads. Started at the first use, after any fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Wait for ``work``; past ``timeout`` seconds it is cancelled in the engine too."""
        if timeout is not None:
            work = asyncio.wait_for(work, timeout)
        try:
            return asyncio.run_coroutine_threadsafe(work, self._running()).result()
        except (TimeoutError, FutureTimeout):
            raise TimedOut(
                f"The palace did not answer within {timeout:g} seconds.",
                help="Narrow the question, or raise MEMCASTLE_SEARCH_TIMEOUT_MS.",
            ) from None
        except CancelledError:
            raise OperationFailed("The palace was closed while it was being read.") from None

    def stop(self) -> None:
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="palace", daemon=True).start()
            return self._loop
