"""What both readers of `mine` share: options, what the palace holds, the report, the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from palace.domain.time import print_instant

ROOT_ROOM = "root"
Row = dict[str, Any]


@dataclass(frozen=True)
class MineOptions:
    """Where the files go and which of them are read; ``branch`` None is HEAD's branch."""

    wing: str
    project: str
    room_depth: int = 1
    max_bytes: int = 262_144
    branch: str | None = None
    from_merge_base: bool = False


@dataclass(frozen=True)
class KnownFile:
    """A file of a folder whose latest version is open in the palace."""

    key: str
    content_hash: str
    valid_from: int


@dataclass
class MineReport:
    """What a reader saw. ``skipped`` gives the paths of each reason, each path once."""

    commits: int = 0
    versions: int = 0
    deletions: int = 0
    renames: int = 0
    stepped: int = 0
    gaps: int = 0
    skipped: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _seen: set[tuple[str, str]] = field(default_factory=set, repr=False)

    def skip(self, reason: str, path: str) -> None:
        """Remember that a path was left out; many versions of one file count once."""
        if (reason, path) not in self._seen:
            self._seen.add((reason, path))
            self.skipped.setdefault(reason, []).append(path)

    def lines(self) -> list[str]:
        """The summary, one sentence a line."""
        told = [
            f"Found {_many(self.versions, 'version')}, {_many(self.deletions, 'deletion')} and "
            f"{_many(self.renames, 'rename')}"
            + (f" in {_many(self.commits, 'commit')}." if self.commits else ".")
        ]
        if self.stepped:
            told.append(f"{_many(self.stepped, 'time')} moved to keep each file's versions apart.")
        if self.gaps:
            told.append(f"{_many(self.gaps, 'version')} ended where the file ceased to be text.")
        for reason, paths in sorted(self.skipped.items()):
            told.append(f"Skipped as {reason}: {_many(len(paths), 'path')}.")
        return told + self.notes


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def room_of(path: str, depth: int) -> str:
    """The first folders of a path; a file beside them lies in the room `root`."""
    return "/".join(path.split("/")[:-1][:depth]) or ROOT_ROOM


def drawer_row(
    options: MineOptions, path: str, content: str, key: str, at: int, source: Mapping[str, Any]
) -> Row:
    """A version of a file, open from ``at`` on."""
    return {
        "type": "drawer",
        "wing": options.wing,
        "room": room_of(path, options.room_depth),
        "name": path,
        "content": content,
        "key": key,
        "valid_from": print_instant(at),
        "source": {"kind": "file", "project": options.project, **source},
        "provenance": {"requested_by": "mine"},
    }


def end_row(key: str, at: int, reason: str) -> Row:
    """Ends the open version of a key without a successor."""
    return {"type": "end", "key": key, "valid_to": print_instant(at), "close_reason": reason}


def mined_row(project: str, branch: str, commit: str) -> Row:
    """A checkpoint: everything up to this commit has been given."""
    return {"type": "mined", "project": project, "branch": branch, "commit": commit}
