"""Random histories, compared with what git says of each commit."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from palace.sources import git
from palace.sources.mining import MineOptions
from tests.sources.repositories import (
    OPTIONS,
    START,
    Repo,
    begins,
    mine,
    random_history,
    spans,
    state,
    versions,
)

SEEDS = range(5)
COMMITS = 18
REBASED = MineOptions(**{**vars(OPTIONS), "from_merge_base": True})


def rising(rng: random.Random, number: int) -> list[int]:
    return [START + 60 * place + rng.randint(0, 59) for place in range(number)]


def muddled(rng: random.Random, number: int) -> list[int]:
    """Times of which many repeat or run backwards."""
    return [START + rng.randint(0, 5) for _ in range(number)]


def commit_of(row: dict[str, Any]) -> str:
    """The short name of the commit that a row comes from."""
    return row["source"]["commit"][:12] if "source" in row else row["close_reason"].split()[-1]


def build(
    path: Path, seed: int, times=rising, commits: int = COMMITS
) -> tuple[Repo, random.Random]:
    rng = random.Random(seed)
    repo = Repo(path)
    random_history(repo, rng, commits, times(rng, commits))
    return repo, rng


@pytest.mark.parametrize("seed", SEEDS)
def test_every_commit_is_as_git_has_it(tmp_path: Path, seed: int) -> None:
    repo, _ = build(tmp_path / "r", seed)
    rows, report = mine(repo)
    seen: dict[str, bytes] = {}
    for commit in repo.line():
        assert state(rows, repo.time_of(commit)) == repo.texts(commit, seen)
    assert report.stepped == 0
    assert report.commits == COMMITS


@pytest.mark.parametrize("seed", SEEDS)
def test_muddled_times_are_made_strictly_increasing(tmp_path: Path, seed: int) -> None:
    repo, _ = build(tmp_path / "r", seed, muddled)
    rows, report = mine(repo)
    last = max(begins(row) for row in rows if row["type"] != "mined")
    assert state(rows, last) == repo.texts("HEAD", {})
    moved = [row for row in versions(rows) if begins(row) != repo.time_of(row["source"]["commit"])]
    assert 0 < len(moved) <= report.stepped


@pytest.mark.parametrize("seed", SEEDS)
def test_a_path_is_never_valid_twice(tmp_path: Path, seed: int) -> None:
    repo, _ = build(tmp_path / "r", seed, muddled)
    by_name: dict[str, list[tuple[int, float]]] = {}
    for start, end, row in spans(mine(repo)[0]):
        by_name.setdefault(row["name"], []).append((start, end))
    for times in by_name.values():
        ordered = sorted(times)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(ordered))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("times", [rising, muddled])
def test_going_on_from_any_commit_gives_the_rest(tmp_path: Path, seed: int, times) -> None:
    repo, _ = build(tmp_path / "r", seed, times)
    whole = [row for row in mine(repo)[0] if row["type"] != "mined"]
    line = repo.line()
    for place in range(0, len(line), 3):
        rest = [row for row in mine(repo, line[place])[0] if row["type"] != "mined"]
        later = {commit[:12] for commit in line[place + 1 :]}
        assert rest == [row for row in whole if commit_of(row) in later]


def test_a_run_cut_at_any_row_goes_on_from_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "CHECKPOINT_COMMITS", 3)
    repo, _ = build(tmp_path / "r", 5)
    whole, _ = mine(repo)
    marks = [place for place, row in enumerate(whole) if row["type"] == "mined"]
    assert len(marks) == 6
    for mark in marks:
        again = mine(repo, whole[mark]["commit"])[0]
        facts = [row for row in again if row["type"] != "mined"]
        assert facts == [row for row in whole[mark + 1 :] if row["type"] != "mined"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_branch_that_was_rewritten_ends_as_its_head(tmp_path: Path, seed: int) -> None:
    repo, rng = build(tmp_path / "r", seed, commits=12)
    first, _ = mine(repo)
    left, base = repo.line()[-1], rng.choice(repo.line()[3:9])
    repo.git("reset", "--quiet", "--hard", base)
    fresh = rng.choice([0, 1, 6])
    random_history(repo, rng, fresh, [START + 6_000 + 60 * one for one in range(fresh)])
    rows, _ = mine(repo, left, REBASED)
    both = first + rows
    last = max(begins(row) for row in both if row["type"] != "mined")
    assert state(both, last) == repo.texts("HEAD", {})
    assert rows[-1] == {
        "type": "mined",
        "project": "atlas",
        "branch": "main",
        "commit": repo.line()[-1],
    }
