"""A program kept running: one line out, one line back, against the clock, killed whole."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO

from palace.embedding.provider import ProviderFailed

MAX_ANSWER_BYTES = 64 * 1024 * 1024
LAST_WORDS = 2_000
# How often a silent program is looked at: it may be dead while its children hold the pipes.
_LOOK_SECONDS = 0.2
_GOODBYE_SECONDS = 0.5
_CHUNK = 1 << 16


class Gone(Exception):
    """The program ended, or closed its pipes, before a whole line was there."""


class Child:
    """One process in a group of its own, spoken to by one thread at a time."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> None:
        # A session of its own: its process group can be killed without touching ours.
        self._process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.answered = 0
        self._out = bytearray()
        self._err = bytearray()
        for pipe in self._pipes():
            os.set_blocking(pipe.fileno(), False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def last_words(self) -> str:
        """The end of what it wrote to its standard error."""
        return self._err.decode("utf-8", "replace")[-LAST_WORDS:]

    def ask(self, line: bytes, until: float) -> bytes:
        """Send a line and take the next one it writes; Gone when it is no more there."""
        rest, seen = memoryview(line), 0
        stdin, stdout, stderr = (pipe.fileno() for pipe in self._pipes())
        with selectors.DefaultSelector() as watch:
            watch.register(stdin, selectors.EVENT_WRITE)
            watch.register(stdout, selectors.EVENT_READ)
            watch.register(stderr, selectors.EVENT_READ)
            while (end := self._out.find(b"\n", seen)) < 0:
                seen = len(self._out)
                for key, _ in self._ready(watch, until):
                    if key.fd != stdin:
                        self._take(watch, key.fd, into_out=key.fd == stdout)
                        continue
                    rest = rest[self._give(rest) :]
                    if not rest:
                        watch.unregister(stdin)
        if rest:
            raise ProviderFailed("The program wrote a line before it had read what was asked.")
        answer = bytes(self._out[:end])
        del self._out[: end + 1]
        self.answered += 1
        return answer

    def _ready(
        self, watch: selectors.BaseSelector, until: float
    ) -> list[tuple[selectors.SelectorKey, int]]:
        left = until - time.monotonic()
        if left <= 0:
            raise ProviderFailed("The program did not answer in time.", transient=True)
        ready = watch.select(min(left, _LOOK_SECONDS))
        if not ready and self.has_ended():
            raise Gone
        return ready

    def _give(self, rest: memoryview) -> int:
        assert self._process.stdin is not None
        try:
            return os.write(self._process.stdin.fileno(), rest[:_CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            self._hear_last_words()
            raise Gone from None

    def _take(self, watch: selectors.BaseSelector, fd: int, *, into_out: bool) -> None:
        data = _read(fd)
        if data is None:
            return
        if not data:
            watch.unregister(fd)
            if into_out:
                self._hear_last_words()
                raise Gone
        elif into_out:
            self._out += data
            if len(self._out) > MAX_ANSWER_BYTES:
                raise ProviderFailed(f"The program wrote more than {MAX_ANSWER_BYTES} bytes.")
        else:
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        self._err += data
        # Four bytes at most make a character.
        del self._err[: -LAST_WORDS * 4]

    def _hear_last_words(self) -> None:
        """What is left on standard error, waited for a little: it dies in its own time."""
        assert self._process.stderr is not None
        until = time.monotonic() + _GOODBYE_SECONDS
        while time.monotonic() < until:
            data = _read(self._process.stderr.fileno())
            if data:
                self._keep(data)
            elif data is not None or self.has_ended():
                return
            else:
                time.sleep(0.01)

    def has_ended(self) -> bool:
        """Whether it has ended; its process id stays taken until ``stop``."""
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, options) is not None

    def stop(self, *, kindly: bool = False) -> None:
        """End it with all its children; ``kindly`` lets it end by itself first."""
        for pipe in self._pipes():
            pipe.close()
        until = time.monotonic() + (_GOODBYE_SECONDS if kindly else 0)
        while time.monotonic() < until and not self.has_ended():
            time.sleep(0.01)
        # Before the wait: once that is done, the number may name another group.
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdin, process.stdout, process.stderr


def _read(fd: int) -> bytes | None:
    """What is there; None when nothing is yet, empty at the end."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
