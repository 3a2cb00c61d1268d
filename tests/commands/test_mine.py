"""`mine` as a command: a repository twice, killed, rewritten; a folder; what is skipped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, command


def git(folder: Path, *arguments: str, day: int = 1) -> None:
    when = f"2026-01-{day:02d}T12:00:00+0200"
    who = {"GIT_AUTHOR_NAME": "Zoë", "GIT_AUTHOR_EMAIL": "z@example.org"}
    also = {"GIT_COMMITTER_NAME": "Zoë", "GIT_COMMITTER_EMAIL": "z@example.org"}
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    subprocess.run(
        ["git", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, **who, **also, **dates},
    )


def commit(folder: Path, day: int, **files: str | None) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    git(folder, "add", "-A", day=day)
    git(folder, "commit", "-m", f"day {day}", day=day)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, 1, readme_md="first", docs__plan_md="the plan")
    commit(folder, 2, readme_md="second")
    commit(folder, 3, docs__plan_md=None)
    (folder / "blob.bin").write_bytes(b"\x00\x01")
    commit(folder, 4, notes_md="a note")
    return folder


def drawers(manage) -> list[dict[str, str]]:
    done = manage("export")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(
        (row for row in rows if row["type"] == "drawer"), key=lambda row: row["valid_from"]
    )


def test_a_repository_is_filed_with_its_history(manage, repository):
    done = manage("mine", str(repository), "--list-skipped")
    assert done.returncode == 0, done.stderr
    assert "Filed 4 drawers" in done.stderr
    assert "skipped (binary): blob.bin" in done.stderr
    plan, first, second, note = by_content(manage)
    assert (first["valid_to"], second["supersedes"]) == (second["valid_from"], [first["id"]])
    assert first["valid_from"] == "2026-01-01T10:00:00.000000Z"
    assert plan["valid_to"] == "2026-01-03T10:00:00.000000Z"
    assert "superseded_by" not in plan
    assert plan["close_reason"].startswith("deleted in")
    assert (plan["wing"], plan["room"], note["room"]) == ("my project", "docs", "root")
    assert note["source"]["agent"] == "Zoë"
    assert note["source"]["path"] == note["name"] == "notes.md"


def by_content(manage) -> list[dict[str, str]]:
    found = {row["content"]: row for row in drawers(manage)}
    return [found[text] for text in ("the plan", "first", "second", "a note")]


def test_the_second_time_only_new_commits_are_read(manage, repository):
    manage("mine", str(repository))
    before = drawers(manage)
    again = manage("mine", str(repository))
    assert again.returncode == 0
    assert "Filed" not in again.stderr
    assert drawers(manage) == before
    commit(repository, 5, readme_md="third", docs__plan_md="a new plan")
    done = manage("mine", str(repository))
    assert "Filed 2 drawers" in done.stderr
    contents = {row["content"] for row in drawers(manage) if "valid_to" not in row}
    assert contents == {"third", "a new plan", "a note"}


def test_a_rewritten_history_stops_and_names_the_way_on(manage, repository):
    manage("mine", str(repository))
    git(repository, "reset", "--hard", "HEAD~1")
    commit(repository, 6, readme_md="another line")
    done = manage("mine", str(repository))
    assert done.returncode == 1
    assert "--from-merge-base" in done.stderr
    assert manage("mine", str(repository), "--from-merge-base").returncode == 0
    current = {row["content"] for row in drawers(manage) if "valid_to" not in row}
    assert current == {"another line"}


def test_a_dry_run_files_nothing(manage, repository):
    done = manage("mine", str(repository), "--dry-run")
    assert done.returncode == 0
    assert "Filed 4 drawers" in done.stderr
    assert "wing" not in manage("export").stdout.replace('"scope"', "")


def test_a_killed_run_goes_on(manage, repository, environment):
    for number in range(40):
        commit(repository, 7, **{f"many__{number}_md": f"text {number}", "readme_md": f"r{number}"})
    for wait in (0.9, 1.2, 1.5):
        run = subprocess.Popen(
            command("mine", str(repository)),
            env=environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(wait)
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert manage("mine", str(repository)).returncode == 0
    found = drawers(manage)
    assert len(found) == 84
    assert len({row["id"] for row in found}) == 84
    assert sum("valid_to" not in row for row in found) == 42


def test_a_plain_folder_follows_its_files(manage, tmp_path):
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one")
    (folder / "sub" / "b.txt").write_text("two")
    os.utime(folder / "a.txt", (1_750_000_000, 1_750_000_000))
    assert "Filed 2 drawers" in manage("mine", str(folder)).stderr
    (folder / "a.txt").write_text("one, changed")
    (folder / "sub" / "b.txt").unlink()
    done = manage("mine", str(folder))
    assert done.returncode == 0, done.stderr
    found = drawers(manage)
    assert sorted(row["content"] for row in found) == ["one", "one, changed", "two"]
    assert [row["content"] for row in found if "valid_to" not in row] == ["one, changed"]
    assert found[0]["valid_from"] == "2025-06-15T15:06:40.000000Z"


def test_what_is_no_folder_is_told(manage, tmp_path):
    done = manage("mine", str(tmp_path / "nothing"))
    assert done.returncode == 1
    assert "is not a folder" in done.stderr
