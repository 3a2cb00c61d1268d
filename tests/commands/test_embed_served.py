"""`manage.py embed` beside a running server: the job is handed over and followed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.commands.conftest import managing
from tests.commands.test_embed import embedding, fill, log, sent, with_manner  # noqa: F401
from tests.commands.test_serving import Served


def test_the_server_runs_the_job(embedding: dict[str, str], log: Path) -> None:  # noqa: F811
    explorer = Served(embedding)
    try:
        manage = managing(explorer.environment)
        fill(manage, "one", "two")
        done = manage("embed")
        assert done.returncode == 0, done.stderr
        assert "drawers embedded with small" in done.stderr
        assert "0 drawers would be embedded" in manage("embed", "--dry-run").stdout
        again = manage("embed", "--reembed")  # the server itself may have been first before
        assert "2 of 2 drawers embedded" in again.stderr
        times = Counter(sent(log))  # of the demo too, which was shown before
        assert (times["one"], times["two"]) == (2, 2)
    finally:
        explorer.stop()
