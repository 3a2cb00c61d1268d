"""Commands in processes of their own, on a data directory of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Manage = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """With a space in its path: nothing may depend on there being none."""
    return tmp_path / "data dir"


def environment_of(data_dir: Path) -> dict[str, str]:
    """This process's environment with a data directory of its own."""
    kept = {name: one for name, one in os.environ.items() if not name.startswith("MEMCASTLE_")}
    return {**kept, "MEMCASTLE_DATA_DIR": str(data_dir)}


@pytest.fixture
def environment(data_dir: Path) -> dict[str, str]:
    return environment_of(data_dir)


@pytest.fixture
def manage(environment: dict[str, str]) -> Manage:
    """Run a management command to its end."""
    return managing(environment)


def managing(environment: dict[str, str]) -> Manage:
    """What runs commands in an environment."""

    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=ROOT,
        )

    return run


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), *arguments]
