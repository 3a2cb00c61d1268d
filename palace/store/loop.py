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
            limit = "in time" if timeout is None else f"within {timeout:g} seconds"
            raise TimedOut(
                f"The palace did not answer {limit}.",
                help="Narrow the question, or raise MEMCASTLE_SEARCH_TIMEOUT_MS.",
            ) from None
        except CancelledError:
            raise OperationFailed("The palace was closed while it was being read.") from None

    def stop(self) -> None:
        """End the thread. What still runs is cancelled: those who wait for it must not hang."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="palace", daemon=True).start()
            return self._loop


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=1)
