"""`manage.py mine PATH`: a git repository with its whole history, or a plain folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from palace import handover, opening
from palace.management.base import PalaceCommand, progress_bar
from palace.sources.folder import read_folder
from palace.sources.git import branch_name, commit_count, is_repository, read_history
from palace.sources.mining import KnownFile, MineOptions, MineReport
from palace.sources.planning import Options
from palace.sources.report import ImportReport

PART_ROWS = 2_000
PART_CHARS = 20_000_000


class Command(PalaceCommand):
    help = "File every version of every text file of a git repository, or of a folder."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--wing", help="the wing (default: the folder's name)")
        parser.add_argument("--project", help="the project's name (default: the folder's name)")
        parser.add_argument("--branch", help="the branch (default: the one that is checked out)")
        parser.add_argument("--room-depth", type=int, default=1, help="folders that name a room")
        parser.add_argument("--max-bytes", type=int, default=262_144, help="skip larger files")
        parser.add_argument("--from-merge-base", action="store_true", help="after a rewrite")
        parser.add_argument("--dry-run", action="store_true", help="say what would be filed")
        parser.add_argument("--list-skipped", action="store_true", help="name what was skipped")

    def run(self, **options: Any) -> None:
        path = options["path"].resolve()
        if not path.is_dir():
            raise CommandError(f"{path} is not a folder. Give a git repository or a folder.")
        chosen = MineOptions(
            wing=options["wing"] or path.name,
            project=options["project"] or path.name,
            room_depth=max(1, options["room_depth"]),
            max_bytes=options["max_bytes"],
            branch=options["branch"],
            from_merge_base=options["from_merge_base"],
        )
        read = MineReport()
        filed = self._mine(path, chosen, read, dry_run=options["dry_run"])
        for line in read.lines():
            self.stderr.write(line)
        if options["list_skipped"]:
            for reason, paths in sorted(read.skipped.items()):
                for one in paths:
                    self.stderr.write(f"skipped ({reason}): {one}")
        self.tell(filed)

    def _mine(
        self, path: Path, chosen: MineOptions, read: MineReport, *, dry_run: bool
    ) -> ImportReport:
        target = handover.target()
        now = opening.clock()
        if is_repository(path):
            branch = branch_name(path, chosen.branch)
            since = target.mined(chosen.wing, chosen.project, branch).commit
            rows = read_history(path, chosen, since, read)
            total = commit_count(path, chosen.branch, since)
        else:
            files = target.mined(chosen.wing, chosen.project, None).files
            known = {name: KnownFile(key, digest, at) for name, key, digest, at in files}
            rows, total = read_folder(path, chosen, known, now, read), None
        filed = ImportReport()
        with progress_bar("rows", None) as bar:
            bar.set_postfix_str(f"{total:,} commits" if total else "")
            for part in _parts(rows):
                options = Options(now=opening.clock(), dry_run=dry_run)
                answer = target.file(_again(part), options, lambda number: _step(bar, number))
                filed.merge(answer.as_json())
        return filed


def _parts(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Pieces that fit into memory and end at a checkpoint's row or at a bound."""
    part: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        part.append(row)
        size += len(row.get("content", ""))
        if len(part) >= PART_ROWS or size > PART_CHARS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _again(part: list[dict[str, Any]]) -> Any:
    return lambda: zip(itertools.count(1), part, strict=False)


def _step(bar: Any, number: int) -> None:
    bar.update(number)
