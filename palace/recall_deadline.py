"""The budget of a request, spent leg by leg."""

from __future__ import annotations

import time


class Deadline:
    """Seconds left of a request's budget; None when there is none."""

    def __init__(self, timeout_ms: int) -> None:
        self._end = time.monotonic() + timeout_ms / 1000 if timeout_ms else None

    @property
    def left(self) -> float | None:
        return None if self._end is None else max(0.001, self._end - time.monotonic())

    def part(self, share: float) -> Deadline:
        """A deadline over a share of what is left: one slow leg leaves time for others."""
        left = self.left
        return Deadline(0 if left is None else max(1, int(left * share * 1000)))
