"""`manage.py import_jsonl FILE|-`: file rows of the JSON lines format."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from palace import handover, opening
from palace.management.base import PalaceCommand, progress_bar, stepping
from palace.sources.jsonl import file_readable_twice, readable_twice
from palace.sources.planning import Options


class Command(PalaceCommand):
    help = "File the rows of a JSON lines file (gzip too); - reads standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="a path, or - for standard input")
        parser.add_argument("--strict", action="store_true", help="stop at the first bad line")
        parser.add_argument("--rewrite", action="store_true", help="insert into the past of keys")
        parser.add_argument("--dry-run", action="store_true", help="say what would be filed")

    def run(self, **options: Any) -> None:
        chosen = Options(
            now=opening.clock(),
            rewrite=options["rewrite"],
            strict=options["strict"],
            dry_run=options["dry_run"],
        )
        with _source(options["file"]) as read, progress_bar("rows") as bar:
            report = handover.target().file(read, chosen, stepping(bar))
        if chosen.dry_run:
            self.stderr.write("A dry run: nothing was written.")
        self.tell(report)


def _source(name: str) -> AbstractContextManager[Any]:
    return readable_twice(sys.stdin.buffer) if name == "-" else file_readable_twice(Path(name))
