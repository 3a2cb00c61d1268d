"""Times the pages of a served palace: p50 and p95 with one client and with eight.

`python -m tests.bench.pages 10000` makes a palace, serves it and prints a table.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx

from tests.bench.palaces import make

ROOT = Path(__file__).parents[2]
BIND = "127.0.0.1:8765"
Url = Callable[[int], str]


@contextmanager
def served(data_dir: Path) -> Iterator[httpx.Client]:
    """A gunicorn over a data directory, as `make run` starts it."""
    environment = {**os.environ, "MEMCASTLE_DATA_DIR": str(data_dir), "MEMCASTLE_BIND": BIND}
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "-v0"], env=environment, cwd=ROOT, check=True)
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "memcastle_site.wsgi"],
        env=environment,
        cwd=ROOT,
    )
    try:
        with httpx.Client(base_url=f"http://{BIND}", timeout=60) as client:
            _wait(client)
            yield client
    finally:
        server.terminate()
        server.wait(30)


def _wait(client: httpx.Client) -> None:
    for _ in range(100):
        try:
            client.get("/health/")
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server does not start")


def measure(client: httpx.Client, url: Url, rounds: int, clients: int) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""

    def one(number: int) -> float:
        started = time.perf_counter()
        answer = client.get(url(number))
        answer.raise_for_status()
        return (time.perf_counter() - started) * 1000

    with ThreadPoolExecutor(clients) as pool:
        times = sorted(pool.map(one, range(rounds)))
    return statistics.median(times), times[int(len(times) * 0.95) - 1]


def _by_day(path: str) -> Url:
    """The page at another day each time, so that no cache of an answer helps."""
    days = [f"2025-{month:02d}-{day:02d}" for month in range(1, 13) for day in (3, 17)]
    mark = "&" if "?" in path else "?"
    return lambda number: f"{path}{mark}as_of={days[number % len(days)]}"


def main(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        started = time.perf_counter()
        generator = make(data / "palace", size)
        seconds = time.perf_counter() - started
        print(f"{size:,} drawers filed in {seconds:.0f} s ({size / seconds:,.0f}/s)")
        with served(data) as client:
            started = time.perf_counter()
            client.get("/")
            print(f"first page, cold (chronology loaded): {time.perf_counter() - started:.2f} s")
            found = client.get("/api/search", params={"limit": 100}).json()["hits"]
            idents = [hit["id"] for hit in found]
            words = {
                "rare (20)": generator.word_near(20),
                "medium (1 %)": generator.word_near(size // 100),
                "common (20 %)": generator.word_near(size // 5),
                "most drawers": generator.words[0],
            }
            pages: dict[str, Url] = {
                "overview": _by_day("/"),
                "wing": _by_day("/wings/wing%203/"),
                "room": _by_day("/wings/wing%203/rooms/room%203/"),
                "drawer": lambda n: f"/drawers/{idents[n % len(idents)]}/",
                "browse": _by_day("/search/"),
                "api timeline": _by_day("/api/timeline"),
            }
            for name, word in words.items():
                pages[f"search {name}"] = _by_day(f"/search/?{urlencode({'q': word})}")
            two = f"{words['rare (20)']} {words['medium (1 %)']}"
            pages["search two words"] = _by_day(f"/search/?{urlencode({'q': two})}")
            for name, url in pages.items():
                rounds = 8 if "common" in name or "most" in name else 40
                measure(client, url, 3, 1)
                one, eight = measure(client, url, rounds, 1), measure(client, url, rounds, 8)
                print(
                    f"{name:24s} 1 client p50 {one[0]:7.1f} p95 {one[1]:7.1f} ms   "
                    f"8 clients p50 {eight[0]:7.1f} p95 {eight[1]:7.1f} ms"
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
