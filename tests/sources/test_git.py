"""A git repository read with its history: keys, times, gaps, names, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from palace.domain.time import SECOND, print_instant
from palace.sources.git import commit_count
from palace.sources.mining import MineOptions
from tests.sources.repositories import OPTIONS, START, Repo, kinds, mine, versions

TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "atlas")


def at(seconds: int, micros: int = 0) -> str:
    return print_instant((START + seconds) * SECOND + micros)


def test_a_version_a_new_version_and_a_deletion(repo: Repo) -> None:
    first = repo.commit(**{"docs/plan.md": "one\n"})
    second = repo.commit(**{"docs/plan.md": "two\n"})
    third = repo.commit(**{"docs/plan.md": None})
    rows, report = mine(repo)
    key = f"git:atlas:main:docs/plan.md@{first[:12]}"
    assert rows[0] == {
        "type": "drawer",
        "wing": "atlas",
        "room": "docs",
        "name": "docs/plan.md",
        "content": "one\n",
        "key": key,
        "valid_from": at(60),
        "source": {
            "kind": "file",
            "project": "atlas",
            "branch": "main",
            "path": "docs/plan.md",
            "uri": f"git:atlas/docs/plan.md@{first}",
            "commit": first,
            "agent": "Ada",
        },
        "provenance": {"requested_by": "mine"},
    }
    assert (rows[1]["content"], rows[1]["key"]) == ("two\n", key)
    assert rows[1]["source"]["commit"] == second
    assert rows[2] == {
        "type": "end",
        "key": key,
        "valid_to": at(180),
        "close_reason": f"deleted in {third[:12]}",
    }
    assert rows[3] == {"type": "mined", "project": "atlas", "branch": "main", "commit": third}
    assert (report.commits, report.versions, report.deletions) == (3, 2, 1)
    assert report.lines() == ["Found 2 versions, 1 deletion and 0 renames in 3 commits."]


def test_nothing_new_gives_no_row(repo: Repo) -> None:
    head = repo.commit(a="one\n")
    assert mine(repo, head)[0] == []
    assert commit_count(repo.path, None, head) == 0
    assert commit_count(repo.path, "main", None) == 1


def test_a_rename_goes_on_in_the_other_room(repo: Repo) -> None:
    repo.commit(**{"a.md": TEXT})
    repo.commit(**{"a.md": None, "docs/b.md": TEXT + "more\n"})
    rows, report = mine(repo)
    first, second = versions(rows)
    assert first["key"] == second["key"]
    assert (first["room"], second["room"], second["name"]) == ("root", "docs", "docs/b.md")
    assert (report.renames, report.deletions) == (1, 0)


@pytest.mark.parametrize(("depth", "room"), [(1, "a"), (2, "a/b"), (9, "a/b/c")])
def test_rooms_are_as_deep_as_asked(repo: Repo, depth: int, room: str) -> None:
    repo.commit(**{"a/b/c/d.md": "one\n"})
    row = mine(repo, None, MineOptions("w", "p", room_depth=depth))[0][0]
    assert (row["wing"], row["room"], row["name"]) == ("w", room, "a/b/c/d.md")


def test_a_file_made_again_is_another_chain(repo: Repo) -> None:
    repo.commit(a="one\n")
    repo.commit(a=None)
    repo.commit(a="one\n")
    rows, _ = mine(repo)
    assert kinds(rows) == [("drawer", "a"), ("end", "deleted"), ("drawer", "a")]
    assert rows[0]["key"] == rows[1]["key"] != rows[2]["key"]


def test_a_swap_keeps_both_names(repo: Repo) -> None:
    repo.commit(a=TEXT, b=TEXT.upper())
    repo.commit(a=TEXT.upper(), b=TEXT)
    rows, _ = mine(repo)
    assert kinds(rows) == [("drawer", name) for name in "abab"]
    assert rows[0]["key"] == rows[2]["key"]


def test_ends_come_first_then_renames(repo: Repo) -> None:
    repo.commit(a="gone\n", m=TEXT)
    repo.commit(**{"a": None, "m": None, "z": TEXT, "b": "new\n"})
    assert kinds(mine(repo)[0])[2:] == [("end", "deleted"), ("drawer", "z"), ("drawer", "b")]


def test_a_file_that_is_binary_for_a_while_leaves_a_gap(repo: Repo) -> None:
    repo.commit(a="one\n")
    mid = repo.commit(a=b"\0\1")
    repo.commit(a=b"\0\2")
    repo.commit(a="two\n")
    rows, report = mine(repo)
    assert kinds(rows) == [("drawer", "a"), ("end", "ceased to be text"), ("drawer", "a")]
    assert len({row["key"] for row in rows[:3]}) == 1
    assert report.skipped == {"binary": ["a"]}
    assert (report.gaps, report.deletions) == (1, 0)
    assert mine(repo, mid)[0] == rows[2:]


def test_links_modules_and_modes(repo: Repo) -> None:
    first = repo.commit(a="one\n", b="two\n")
    (repo.path / "a").unlink()
    (repo.path / "a").symlink_to("b")
    (repo.path / "b").chmod(0o755)
    repo.commit()
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{first},sub")
    repo.git("commit", "--quiet", "--message", "module", at=START + 500)
    rows, report = mine(repo)
    assert kinds(rows) == [("drawer", "a"), ("drawer", "b"), ("end", "ceased to be text")]
    assert report.skipped == {"symlink": ["a"], "submodule": ["sub"]}


def test_each_reason_to_skip_is_told_once(repo: Repo) -> None:
    for text in ("1", "2"):
        repo.commit(
            **{
                "big": "x" * 2_001 + text,
                "blank": " \n" * int(text),
                "latin": b"caf\xe9" + text.encode(),
                "node_modules/m.js": text,
                "env/pyvenv.cfg": text,
                "env/lib/x.py": text,
            }
        )
    rows, report = mine(repo)
    assert versions(rows) == []
    assert report.skipped == {
        "too_large": ["big"],
        "empty": ["blank"],
        "not_utf8": ["latin"],
        "ignored_folder": ["env/lib/x.py", "env/pyvenv.cfg", "node_modules/m.js"],
    }
    assert "Skipped as ignored_folder: 3 paths." in report.lines()


def test_text_is_kept_to_the_byte(repo: Repo) -> None:
    content = "\ufeffone\r\ntwo\rthree\u2028 no end"
    repo.git("config", "core.autocrlf", "false")
    repo.commit(a=content)
    assert mine(repo)[0][0]["content"] == content


def test_names_of_every_sort(repo: Repo) -> None:
    names = ["new\nline", 'quo"te', "tab\t", "🙂/é", "-dash", ":colon", "sp ace", "\x01x"]
    repo.commit(**{name: f"{name}\n" for name in names})
    repo.write(b"bad\xff", "text\n")
    repo.commit()
    rows, report = mine(repo)
    assert {row["name"] for row in versions(rows)} == set(names)
    assert report.skipped == {"path_not_utf8": ["bad\\xff"]}


def test_times_that_repeat_or_run_backwards_are_stepped(repo: Repo) -> None:
    for seconds, text in ((10, "one"), (10, "two"), (5, "three"), (20, "four")):
        repo.commit(at=START + seconds, a=f"{text}\n")
    rows, report = mine(repo)
    begun = [row["valid_from"] for row in versions(rows)]
    assert begun == [at(10), at(10, 1), at(10, 2), at(20)]
    assert report.stepped == 2
    assert "2 times moved to keep each file's versions apart." in report.lines()


def test_a_merge_counts_by_its_first_parent(repo: Repo) -> None:
    base = repo.commit(a="one\n")
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit(b="aside\n")
    repo.commit(c="aside\n")
    repo.git("checkout", "--quiet", "main")
    repo.git("reset", "--quiet", "--hard", base)
    merge = repo.commit(merged=[side], b="aside\n")
    rows, report = mine(repo)
    assert [row["source"]["commit"] for row in versions(rows)] == [base, merge]
    assert report.commits == 2
    options = MineOptions(**{**vars(OPTIONS), "branch": "side"})
    assert {row["name"] for row in versions(mine(repo, None, options)[0])} == {"a", "b", "c"}
