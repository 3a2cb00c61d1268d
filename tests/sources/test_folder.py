"""A plain folder: modification times, changes, files that vanish."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from palace.domain.errors import PalaceError
from palace.domain.records import content_hash
from palace.domain.time import SECOND, parse_instant, print_instant
from palace.sources.folder import read_folder
from palace.sources.mining import KnownFile, MineOptions, MineReport

OPTIONS = MineOptions(wing="notes", project="notes", max_bytes=100)
START = 1_700_000_000
NOW = (START + 10_000) * SECOND
Known = dict[str, KnownFile]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.mkdir()
    return path


def write(folder: Path, name: str, content: str | bytes, seconds: int = 0) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(file, ns=((START + seconds) * 10**9,) * 2)


def read(folder: Path, known: Known | None = None, now: int = NOW):
    report = MineReport()
    return list(read_folder(folder, OPTIONS, known or {}, now, report)), report


def filed(rows: list, known: Known | None = None) -> Known:
    """What a palace holds open after filing rows."""
    result = dict(known or {})
    names = {one.key: name for name, one in result.items()}
    for row in rows:
        if row["type"] == "end":
            result.pop(names[row["key"]])
        else:
            digest = content_hash(row["content"])
            result[row["name"]] = KnownFile(row["key"], digest, parse_instant(row["valid_from"]))
    return result


def test_a_folder_is_filed_by_modification_times(folder: Path) -> None:
    write(folder, "b.md", "one\r\n", 5)
    write(folder, "deep/er/a.md", "two", 7)
    rows, report = read(folder)
    assert rows[0] == {
        "type": "drawer",
        "wing": "notes",
        "room": "root",
        "name": "b.md",
        "content": "one\r\n",
        "key": "folder:notes:b.md",
        "valid_from": print_instant((START + 5) * SECOND),
        "source": {
            "kind": "file",
            "project": "notes",
            "path": "b.md",
            "uri": "folder:notes/b.md",
        },
        "provenance": {"requested_by": "mine"},
    }
    assert (rows[1]["room"], rows[1]["name"]) == ("deep", "deep/er/a.md")
    assert report.versions == 2
    assert report.lines() == ["Found 2 versions, 0 deletions and 0 renames."]


def test_only_changes_come_the_second_time(folder: Path) -> None:
    for name in ("same", "touched", "changed", "vanished"):
        write(folder, name, name)
    known = filed(read(folder)[0])
    write(folder, "touched", "touched", 50)
    write(folder, "changed", "other", 60)
    (folder / "vanished").unlink()
    rows, report = read(folder, known)
    assert rows[0] == {
        "type": "end",
        "key": "folder:notes:vanished",
        "valid_to": print_instant(NOW),
        "close_reason": "no longer in the folder",
    }
    assert [row["name"] for row in rows[1:]] == ["changed"]
    assert rows[1]["valid_from"] == print_instant((START + 60) * SECOND)
    assert (report.versions, report.deletions, report.stepped) == (1, 1, 0)
    assert read(folder, filed(rows, known))[0] == []


def test_a_change_with_an_old_time_follows_by_the_smallest_step(folder: Path) -> None:
    write(folder, "a", "one", 50)
    known = filed(read(folder)[0])
    write(folder, "a", "two", 10)
    rows, report = read(folder, known)
    assert rows[0]["valid_from"] == print_instant((START + 50) * SECOND + 1)
    assert report.stepped == 1


def test_a_time_to_come_begins_now(folder: Path) -> None:
    write(folder, "a", "one", 99_999)
    rows, report = read(folder)
    assert (rows[0]["valid_from"], report.stepped) == (print_instant(NOW), 1)


def test_an_end_lies_after_its_start(folder: Path) -> None:
    known = {"a": KnownFile("folder:notes:a", "x", NOW)}
    assert read(folder, known)[0][0]["valid_to"] == print_instant(NOW + 1)


def test_what_is_left_out_is_told(folder: Path) -> None:
    write(folder, "big", "x" * 101)
    write(folder, "bin", b"\0")
    write(folder, "latin", b"\xe9")
    write(folder, "blank", "\n")
    write(folder, ".git/config", "x")
    write(folder, "own/pyvenv.cfg", "x")
    write(folder, "own/lib/a.py", "x")
    (folder / "link").symlink_to("big")
    (folder / "around").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"bad\xff")).write_text("x")
    rows, report = read(folder)
    assert rows == []
    assert {reason: sorted(paths) for reason, paths in report.skipped.items()} == {
        "too_large": ["big"],
        "binary": ["bin"],
        "not_utf8": ["latin"],
        "empty": ["blank"],
        "ignored_folder": [".git", "own"],
        "symlink": ["around", "link"],
        "not_a_file": ["pipe"],
        "path_not_utf8": ["bad\\xff"],
    }


def test_a_file_that_ceases_to_be_text_ends(folder: Path) -> None:
    write(folder, "a", "one")
    write(folder, "tool/x", "two")
    known = filed(read(folder)[0])
    write(folder, "a", b"\0")
    write(folder, "tool/pyvenv.cfg", "home")
    rows, report = read(folder, known)
    assert [row["close_reason"] for row in rows] == [
        "skipped as ignored_folder",
        "skipped as binary",
    ]
    assert (report.gaps, report.deletions) == (2, 0)


def test_what_cannot_be_seen_is_not_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "shut/a", "one")
    known = filed(read(folder)[0])
    scandir = os.scandir

    def refuse(path):
        if os.fspath(path).endswith("shut"):
            raise PermissionError(13, "no", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    rows, report = read(folder, known)
    assert rows == []
    assert report.skipped == {"unreadable": ["shut"]}


def test_an_unreadable_file_keeps_its_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "a", "one")
    known = filed(read(folder)[0])

    def refuse(*_: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(Path, "open", refuse)
    rows, report = read(folder, known)
    assert (rows, report.skipped) == ([], {"unreadable": ["a"]})


def test_a_folder_that_is_not_there(folder: Path) -> None:
    with pytest.raises(PalaceError) as caught:
        read(folder / "absent")
    assert caught.value.code == "memcastle::mine::not_found"
