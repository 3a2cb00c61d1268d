"""`manage.py embed` with small programs as providers, and what a kill leaves behind."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, Manage, command, managing

# Logs every text before it answers; `slow` lets a kill come in between, `poison` refuses a text.
PROGRAM = """
import hashlib, json, sys, time
log, manner = sys.argv[1:]
for line in sys.stdin:
    asked = json.loads(line)
    texts = asked["texts"]
    with open(log, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\\n" for text in texts)
    if manner == "slow":
        time.sleep(0.3)
    if manner == "down":
        sys.exit("out of order")
    answer = {"version": 1, "id": asked["id"], "model": "small"}
    bad = [at for at, text in enumerate(texts) if "poison" in text]
    if bad and manner == "poison":
        answer["error"] = {"message": "no", "refused": bad}
    else:
        digests = [hashlib.sha512(text.encode()).digest() * 12 for text in texts]
        answer["vectors"] = [[one - 127.5 for one in digest] for digest in digests]
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "sent.log"


@pytest.fixture
def embedding(environment: dict[str, str], tmp_path: Path, log: Path) -> dict[str, str]:
    """The environment with a program that answers as it should."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    return with_manner(environment | {"PROGRAM": str(program), "LOG": str(log)}, "well")


def with_manner(environment: dict[str, str], manner: str) -> dict[str, str]:
    words = [sys.executable, environment["PROGRAM"], environment["LOG"], *manner.split()]
    given = shlex.join(words)
    chosen = {"MEMCASTLE_EMBED_PROVIDER": "command", "MEMCASTLE_EMBED_COMMAND": given}
    return environment | chosen | {"MEMCASTLE_EMBED_MODEL": "small"}


def fill(manage: Manage, *contents: str) -> None:
    rows = [{"wing": "atlas", "room": "routes", "content": one} for one in contents]
    filed = manage("import_jsonl", "-", stdin="".join(json.dumps(one) + "\n" for one in rows))
    assert filed.returncode == 0, filed.stderr


def sent(log: Path) -> list[str]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [text for text in map(json.loads, lines) if not text.startswith("The memory of a")]


def test_it_embeds_all_and_then_nothing(embedding: dict[str, str], log: Path) -> None:
    manage = managing(embedding)
    fill(manage, "one", "two", "three")
    planned = manage("embed", "--dry-run")
    assert "3 drawers would be embedded: 3 passages, 11 characters." in planned.stdout
    assert sent(log) == []
    done = manage("embed")
    assert done.returncode == 0, done.stderr
    assert "3 of 3 drawers embedded with small" in done.stderr
    again = manage("embed")
    assert again.returncode == 0
    assert "0 of 0 drawers" in again.stderr
    assert sorted(sent(log)) == ["one", "three", "two"]


def test_limit_wing_and_reembed(embedding: dict[str, str], log: Path) -> None:
    manage = managing(embedding)
    fill(manage, "one", "two", "three")
    assert "0 of 0" in manage("embed", "--wing", "elsewhere").stderr
    assert "2 of 2" in manage("embed", "--limit", "2").stderr
    assert "3 of 3" in manage("embed", "--reembed").stderr
    assert len(sent(log)) == 5


def test_a_refused_text_is_told_and_only_tried_again_when_asked(
    embedding: dict[str, str], log: Path
) -> None:
    manage = managing(with_manner(embedding, "poison"))
    fill(manage, "one", "poison", "three")
    done = manage("embed")
    assert done.returncode == 1
    assert "2 drawers were embedded, 1 were refused." in done.stderr
    assert "The program refused: no" in done.stderr
    before = len(sent(log))
    again = manage("embed")
    assert again.returncode == 0
    assert "1 drawers were refused before and not tried again" in again.stderr
    assert len(sent(log)) == before
    assert manage("embed", "--retry-failed").returncode == 1
    assert managing(embedding)("embed", "--retry-failed").returncode == 0


def test_a_provider_that_is_down_fails_loudly(embedding: dict[str, str]) -> None:
    manage = managing(with_manner(embedding, "down"))
    fill(manage, "one")
    done = manage("embed")
    assert done.returncode == 1
    assert "out of order" in done.stderr


def test_without_a_provider_it_says_what_to_set(manage: Manage) -> None:
    done = manage("embed")
    assert done.returncode == 1
    assert "MEMCASTLE_EMBED_PROVIDER" in done.stderr


def test_a_kill_in_the_middle_loses_and_repeats_nothing(
    embedding: dict[str, str], log: Path
) -> None:
    contents = [f"text number {number}" for number in range(200)]
    fill(managing(embedding), *contents)
    slow = with_manner(embedding, "slow")
    process = subprocess.Popen(
        command("embed"), env=slow, cwd=ROOT, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    for _ in range(600):
        if len(sent(log)) > 64:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(20)
    first = len(sent(log))
    assert 64 < first < 200
    done = managing(embedding)("embed")
    assert done.returncode == 0, done.stderr
    times = Counter(sent(log))
    assert set(times) == set(contents)
    repeated = [text for text, number in times.items() if number > 1]
    assert len(repeated) <= 32, "only the batch that was on its way may be sent again"
    assert "0 of 0" in managing(embedding)("embed").stderr
