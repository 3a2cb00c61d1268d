"""A plain folder as rows: the files there are, compared with those the palace holds.

A changed file supersedes at its modification time, a vanished one ends at the time of the run.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from palace.domain.errors import PalaceError
from palace.domain.records import content_hash
from palace.domain.time import MIN_INSTANT
from palace.sources.mining import KnownFile, MineOptions, MineReport, Row, drawer_row, end_row
from palace.sources.skip import (
    ENVIRONMENT_MARK,
    folders_of,
    is_ignored_folder,
    judge,
    path_reason,
    printable,
)


@dataclass
class _Found:
    """What a walk met: files to read, why others are left out, folders that stayed shut."""

    files: list[str] = field(default_factory=list)
    barred: dict[str, str] = field(default_factory=dict)
    shut: list[str] = field(default_factory=list)

    def may_hold(self, path: str) -> bool:
        """Whether a path lies where nothing could be seen."""
        return any(path.startswith(f"{folder}/") for folder in self.shut)

    def reason(self, path: str) -> str | None:
        """Why a path is left out, or a folder above it."""
        above = (self.barred.get(folder) for folder in folders_of(path))
        return self.barred.get(path) or next(filter(None, above), None)


def read_folder(
    path: Path,
    options: MineOptions,
    known: Mapping[str, KnownFile],
    now: int,
    report: MineReport,
) -> Iterator[Row]:
    """Rows for what changed since the files of ``known`` were filed; ends first."""
    if not path.is_dir():
        raise _refused(path, "is not a folder")
    found = _walk(path)
    for name, reason in found.barred.items():
        report.skip(reason, printable(name))
    present = {*found.files}
    for name, one in known.items():
        if name not in present and not found.may_hold(name):
            yield _ended(one, now, found.reason(name), report)
    for name in found.files:
        yield from _read(path, name, options, known.get(name), now, report)


def _refused(path: Path, why: str) -> PalaceError:
    return PalaceError(
        f"“{path}” {why}.",
        code="memcastle::mine::not_found",
        help="Give the path of a git repository or of a folder.",
        status=400,
    )


def _ended(one: KnownFile, now: int, reason: str | None, report: MineReport) -> Row:
    """The end of a file that vanished, or (with a reason) is no text that is read."""
    report.gaps += reason is not None
    report.deletions += reason is None
    why = f"skipped as {reason}" if reason else "no longer in the folder"
    return end_row(one.key, max(now, one.valid_from + 1), why)


def _read(
    root: Path,
    name: str,
    options: MineOptions,
    known: KnownFile | None,
    now: int,
    report: MineReport,
) -> Iterator[Row]:
    try:
        data, at = _load(root / name, options.max_bytes)
    except OSError:
        report.skip("unreadable", printable(name))
        return  # it may be there unchanged: its last version stays open
    text, reason = judge(data, options.max_bytes)
    if text is None:
        report.skip(reason, printable(name))
        if known:
            yield _ended(known, now, reason, report)
    elif known is None or content_hash(text) != known.content_hash:
        begin = max(min(at, now), known.valid_from + 1 if known else MIN_INSTANT)
        report.stepped += begin != at
        report.versions += 1
        key = known.key if known else f"folder:{options.project}:{name}"
        source = {"path": name, "uri": f"folder:{quote(options.project)}/{quote(name)}"}
        yield drawer_row(options, name, text, key, begin, source)


def _load(path: Path, max_bytes: int) -> tuple[bytes, int]:
    """At most one byte more than allowed, and the modification time in microseconds."""
    with path.open("rb") as file:
        return file.read(max_bytes + 1), os.fstat(file.fileno()).st_mtime_ns // 1_000


def _walk(root: Path) -> _Found:
    """All paths below a folder, in order; links are not followed."""
    found = _Found()

    def shut(error: OSError) -> None:
        folder = Path(error.filename).relative_to(root).as_posix()
        if folder == ".":
            raise _refused(root, "cannot be listed")
        found.barred[folder], found.shut = "unreadable", [*found.shut, folder]

    for place, folders, names in os.walk(root, onerror=shut):
        here = Path(place).relative_to(root)
        for name in sorted([*folders, *names]):
            _sort_out(root, (here / name).as_posix(), found)
        folders[:] = sorted(
            name for name in folders if (here / name).as_posix() not in found.barred
        )
    found.files.sort()
    return found


def _sort_out(root: Path, name: str, found: _Found) -> None:
    try:
        mode = (root / name).lstat().st_mode
    except OSError:
        return  # gone since the folder was listed
    if stat.S_ISDIR(mode):
        is_environment = (root / name / ENVIRONMENT_MARK).is_file()
        if is_environment or is_ignored_folder(name.rpartition("/")[2]):
            found.barred[name] = "ignored_folder"
        return
    reason = path_reason(name)
    if reason is None and not stat.S_ISREG(mode):
        reason = "symlink" if stat.S_ISLNK(mode) else "not_a_file"
    if reason:
        found.barred[name] = reason
    else:
        found.files.append(name)
