"""A real HTTP server that misbehaves to order, and small programs that do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import stamina


@dataclass
class Answer:
    """What the server sends for one request."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0


@dataclass
class Asked:
    """One request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class FakeServer:
    """Answers each request with what ``behave`` makes of its texts."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.behave: Callable[[list[str]], Answer] = good
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def sizes(self) -> list[int]:
        return [len(one.body["input"]) for one in self.asked]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append(Asked(self.path, dict(self.headers), body))
                answer = server.behave(body["input"])
                raw = answer.body
                if not isinstance(raw, bytes):
                    raw = (raw if isinstance(raw, str) else json.dumps(raw)).encode()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                with suppress(OSError):
                    drip(self.wfile.write, raw, answer.drip)

            def log_message(self, *args: object) -> None:
                pass

        return Handler


def drip(write: Callable[[bytes], object], raw: bytes, pause: float) -> None:
    """All at once, or a byte at a time."""
    if not pause:
        write(raw)
        return
    for at in range(len(raw)):
        write(raw[at : at + 1])
        time.sleep(pause)


def vector(text: str, length: int = 768) -> list[float]:
    """A vector that tells which text it is of: by its length in the first place."""
    return [float(len(text)), 1.0] + [0.5] * (length - 2)


def good(texts: list[str], length: int = 768) -> Answer:
    rows = [{"index": at, "embedding": vector(text, length)} for at, text in enumerate(texts)]
    return Answer({"object": "list", "data": rows})


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()
    yield fake
    fake.stop()


@pytest.fixture
def quick_retries() -> Iterator[None]:
    """Retries without their pauses."""
    stamina.set_testing(True, attempts=4, cap=True)
    yield
    stamina.set_testing(False)
