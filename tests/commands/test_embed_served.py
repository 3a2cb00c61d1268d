"""`manage.py embed` beside a running server: the job is handed over and followed."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import managing
from tests.commands.test_embed import embedding, fill, log, sent, with_manner  # noqa: F401
from tests.commands.test_serving import Served


def test_the_server_runs_the_job(embedding: dict[str, str], log: Path) -> None:  # noqa: F811
    explorer = Served(embedding)
    try:
        manage = managing(explorer.environment)
        fill(manage, "one", "two")
        assert "2 drawers would be embedded" in manage("embed", "--dry-run").stdout
        done = manage("embed")
        assert done.returncode == 0, done.stderr
        assert "2 of 2 drawers embedded with small" in done.stderr
        assert "0 of 0" in manage("embed").stderr
        assert sorted(sent(log)) == ["one", "two"]
    finally:
        explorer.stop()
