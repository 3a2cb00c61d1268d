"""Small real repositories, and an oracle that asks git itself what a commit holds."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from palace.domain.time import SECOND, parse_instant
from palace.sources.git import read_history
from palace.sources.mining import MineOptions, MineReport

START = 1_700_000_000
OPTIONS = MineOptions(wing="atlas", project="atlas", max_bytes=2_000)
Row = dict[str, Any]


class Repo:
    """A repository in a folder; every commit takes the next minute unless a time is given."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = START
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, at: int | None = None, data: bytes | None = None) -> bytes:
        date = f"{self.clock if at is None else at} +0000"
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        people = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", date))
        }
        env |= people | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(command, env=env, input=data, check=True, capture_output=True).stdout

    def write(self, name: str | bytes, content: str | bytes) -> None:
        file = os.path.join(os.fsencode(self.path), os.fsencode(name))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as opened:
            opened.write(content.encode() if isinstance(content, str) else content)

    def commit(self, at: int | None = None, merged: Iterable[str] = (), **files: Any) -> str:
        """Commit the folder as it is, after writing ``files``; None removes one."""
        for name, content in files.items():
            if content is None:
                (self.path / name).unlink()
            else:
                self.write(name, content)
        self.clock += 60
        self.git("add", "--all", "--force")
        tree = self.git("write-tree").decode().strip()
        head = self.git("rev-parse", "--quiet", "--verify", "HEAD", at=0) if self._born() else b""
        parents = [*head.decode().split(), *merged]
        given = [part for one in parents for part in ("-p", one)]
        sha = self.git("commit-tree", tree, *given, at=at, data=b"change\n").decode().strip()
        self.git("update-ref", "HEAD", sha)
        return sha

    def _born(self) -> bool:
        return bool(self.git("for-each-ref"))

    def line(self) -> list[str]:
        """The first-parent line, oldest first."""
        return self.git("rev-list", "--first-parent", "--reverse", "HEAD").decode().split()

    def time_of(self, commit: str) -> int:
        return int(self.git("show", "-s", "--format=%ct", commit)) * SECOND

    def texts(self, commit: str, seen: dict[str, bytes]) -> dict[str, str]:
        """path -> text of every file of a commit that is worth a drawer, said in a few words."""
        result = {}
        for entry in filter(None, self.git("ls-tree", "-r", "-z", commit).split(b"\0")):
            about, path = entry.split(b"\t", 1)
            mode, _, blob = about.decode().split()
            if mode not in ("100644", "100755") or b"node_modules/" in path:
                continue
            if blob not in seen:
                seen[blob] = self.git("show", os.fsdecode(commit.encode() + b":" + path))
            data = seen[blob]
            if b"\0" in data or len(data) > OPTIONS.max_bytes or not data.strip():
                continue
            result[path.decode()] = data.decode()
        return result


def mine(
    repo: Repo | Path, since: str | None = None, options: MineOptions = OPTIONS
) -> tuple[list[Row], MineReport]:
    report = MineReport()
    path = repo if isinstance(repo, Path) else repo.path
    return list(read_history(path, options, since, report)), report


def versions(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["type"] == "drawer"]


def kinds(rows: list[Row]) -> list[tuple[str, str]]:
    """Each row by its type, with the name it gives or the reason it ends for."""
    return [
        (row["type"], row.get("name") or row.get("close_reason", "").split(" in ")[0])
        for row in rows
        if row["type"] != "mined"
    ]


def begins(row: Row) -> int:
    return parse_instant(row.get("valid_from") or row["valid_to"])


def spans(rows: list[Row]) -> list[tuple[int, float, Row]]:
    """Each version with its ``[from, to)``: the next row of its key ends it."""
    result = []
    by_key: dict[str, list[Row]] = {}
    for row in rows:
        if row["type"] != "mined":
            by_key.setdefault(row["key"], []).append(row)
    for chain in by_key.values():
        for place, row in enumerate(chain):
            end = begins(chain[place + 1]) if place + 1 < len(chain) else float("inf")
            assert begins(row) < end, "the times of a key are strictly increasing"
            if row["type"] == "drawer":
                result.append((begins(row), end, row))
    return result


def state(rows: list[Row], at: float) -> dict[str, str]:
    """path -> text of what is valid at an instant; a path is valid once."""
    valid = [row for start, end, row in spans(rows) if start <= at < end]
    assert len({row["name"] for row in valid}) == len(valid)
    return {row["name"]: row["content"] for row in valid}


def random_change(repo: Repo, rng: random.Random) -> None:
    """One to four edits: writes, renames, swaps, deletions, files that cease to be text."""
    for _ in range(rng.randint(1, 4)):
        files = sorted(
            str(one.relative_to(repo.path))
            for one in repo.path.rglob("*")
            if ".git" not in one.parts and (one.is_symlink() or one.is_file())
        )
        act = rng.choice(["write"] * 3 + ["edit", "edit", "rename", "rename", "swap", "odd", "rm"])
        one = rng.choice(files) if files else "first"
        if act == "write" or not files:
            _write(repo, _name(rng), "".join(f"{rng.random()}\r\n" for _ in range(9)))
        elif act == "edit":
            _write(repo, one, _bytes(repo, one) + f"more {rng.random()}\n".encode())
        elif act == "rename":
            target = _name(rng)
            data = _bytes(repo, one) + rng.choice([b"", b"\xc3\xa9dit\n"])
            (repo.path / one).unlink()
            _write(repo, target, data)
        elif act == "swap":
            other = rng.choice(files)
            first, second = _bytes(repo, one), _bytes(repo, other)
            _write(repo, one, second)
            _write(repo, other, first)
        elif act == "odd":
            _odd(repo, one, rng)
        else:
            (repo.path / one).unlink()


def _name(rng: random.Random) -> str:
    folder = rng.choice(["", "", "docs/", "docs/deep/", "node_modules/", "src/"])
    return folder + rng.choice(["a", "b", "c", 'q"\n', "é", "🙂"])


def _bytes(repo: Repo, name: str) -> bytes:
    path = repo.path / name
    return b"" if path.is_symlink() else path.read_bytes()


def _write(repo: Repo, name: str, content: str | bytes) -> None:
    path = repo.path / name
    if path.is_symlink():
        path.unlink()
    repo.write(name, content)


def _odd(repo: Repo, name: str, rng: random.Random) -> None:
    kind = rng.choice(["binary", "large", "blank", "link", "mode"])
    if kind == "link":
        (repo.path / name).unlink()
        (repo.path / name).symlink_to("nowhere")
    elif kind == "mode" and not (repo.path / name).is_symlink():
        (repo.path / name).chmod(rng.choice([0o644, 0o755]))
    else:
        data = {"binary": b"\0" + rng.randbytes(5), "large": b"x\n" * 1_500}.get(kind, b" \n")
        _write(repo, name, data)


def random_history(repo: Repo, rng: random.Random, commits: int, times: list[int]) -> None:
    """Commits with random changes; now and then a merge of an older commit."""
    for number in range(commits):
        random_change(repo, rng)
        older = repo.line() if number and rng.random() < 0.2 else []
        merged = [rng.choice(older[:-1])] if len(older) > 1 else []
        repo.commit(at=times[number], merged=merged)
