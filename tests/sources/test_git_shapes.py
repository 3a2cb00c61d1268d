"""Repositories of every shape, rewritten branches, and what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from palace.domain.errors import PalaceError
from palace.sources.git import branch_name, commit_count, is_repository, read_history
from palace.sources.git_commands import Repository
from palace.sources.mining import MineOptions, MineReport
from tests.sources.repositories import OPTIONS, Repo, kinds, mine, versions

TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "atlas")


def refusal(repo: Repo | Path, since: str | None = None, **options: object) -> PalaceError:
    with pytest.raises(PalaceError) as caught:
        mine(repo, since, MineOptions(**{**vars(OPTIONS), **options}))  # type: ignore[arg-type]
    return caught.value


def test_a_rewritten_branch_stops_and_names_the_way_on(repo: Repo) -> None:
    base = repo.commit(a="one\n", gone=TEXT)
    old = repo.commit(a="two\n", b="only there\n", gone=None)
    repo.git("reset", "--quiet", "--hard", base)
    new = repo.commit(c="three\n")
    error = refusal(repo, old)
    assert error.code == "memcastle::mine::not_an_ancestor"
    assert "--from-merge-base" in error.help
    rows, _ = mine(repo, old, MineOptions(**{**vars(OPTIONS), "from_merge_base": True}))
    assert kinds(rows) == [
        ("end", "deleted"),
        ("drawer", "a"),
        ("drawer", "gone"),
        ("drawer", "c"),
    ]
    assert rows[-1]["commit"] == new
    assert mine(repo, new)[0] == []
    assert refusal(repo, "1" * 40, from_merge_base=True).code == error.code


def test_a_line_reached_only_by_a_merge_is_a_rewritten_one(repo: Repo) -> None:
    base = repo.commit(a="one\n")
    old = repo.commit(a="mine\n")
    repo.git("reset", "--quiet", "--hard", base)
    repo.commit(b="theirs\n")
    repo.commit(merged=[old], a="mine\n")
    assert "through a merge" in refusal(repo, old).message


def test_detached_empty_bare_and_shallow(repo: Repo, tmp_path: Path) -> None:
    rows, report = mine(repo)
    assert (rows, report.notes) == ([], ["The branch main has no commits yet."])
    assert commit_count(repo.path, None, None) == 0
    repo.commit(a="one\n")
    repo.commit(a="two\n")
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    assert is_repository(tmp_path / "bare")
    assert mine(tmp_path / "bare")[0] == mine(repo)[0]
    url = f"file://{repo.path}"
    repo.git("clone", "--quiet", "--depth=1", url, str(tmp_path / "shallow"))
    rows, report = mine(tmp_path / "shallow")
    assert [row["content"] for row in versions(rows)] == ["two\n"]
    assert "shallow" in report.notes[0]
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), "HEAD~1")
    assert is_repository(tmp_path / "tree")
    assert branch_name(tmp_path / "tree", None) == "HEAD"
    rows, report = mine(tmp_path / "tree")
    assert rows[0]["key"].startswith("git:atlas:HEAD:a@")
    assert "HEAD" in report.notes[0]


def test_a_relative_path(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(a="one\n")
    monkeypatch.chdir(repo.path.parent)
    assert mine(Path("atlas"))[0] == mine(repo)[0]


def test_what_cannot_be_mined_says_why(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(a="one\n")
    (tmp_path / "plain").mkdir()
    assert refusal(tmp_path / "absent").code == "memcastle::mine::not_found"
    assert refusal(tmp_path / "plain").code == "memcastle::mine::not_a_repository"
    unknown = refusal(repo, branch="--all")
    assert (unknown.code, "main" in unknown.help) == ("memcastle::mine::unknown_branch", True)
    assert not is_repository(tmp_path / "plain")
    assert not is_repository(tmp_path / "absent")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal(repo).code == "memcastle::mine::git_missing"


def test_a_damaged_repository_fails_loudly(repo: Repo) -> None:
    repo.commit(a="one\n")
    repo.commit(a="two\n")
    tree = repo.git("rev-parse", "HEAD~1^{tree}").decode().strip()
    damaged = repo.path / ".git/objects" / tree[:2] / tree[2:]
    damaged.chmod(0o644)
    damaged.write_bytes(b"rubbish")
    assert refusal(repo).code == "memcastle::mine::git_failed"


def test_a_missing_blob_is_skipped(repo: Repo) -> None:
    repo.commit(a="one\n", b="two\n")
    blob = repo.git("rev-parse", "HEAD:a").decode().strip()
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    rows, report = mine(repo)
    assert [row["name"] for row in versions(rows)] == ["b"]
    assert report.skipped == {"missing": ["a"]}


def test_neither_configuration_nor_environment_changes_the_rows(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(**{"é": TEXT})
    repo.commit(**{"é": None, "f": TEXT})
    expected = mine(repo)[0]
    settings = "diff.renames=false log.showRoot=false core.quotePath=true log.diffMerges=off"
    settings += " diff.renameLimit=1 log.date=raw diff.external=false diff.noprefix=true"
    settings += " core.pager=false color.ui=always log.decorate=full format.pretty=fuller"
    for one in settings.split():
        repo.git("config", *one.split("="))
    other = Repo(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert mine(repo)[0] == expected


def test_a_reader_that_stops_early_leaves_no_process(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(**{f"f{number}": f"{number}\n" for number in range(50)})
    begun, start = [], Repository.start

    def watched(*arguments, **options):
        begun.append(start(*arguments, **options))
        return begun[-1]

    monkeypatch.setattr(Repository, "start", watched)
    rows = read_history(repo.path, OPTIONS, None, MineReport())
    assert len(list(itertools.islice(rows, 3))) == 3
    rows.close()  # type: ignore[attr-defined]
    assert len(begun) > 3
    assert all(process.poll() is not None for process in begun)
