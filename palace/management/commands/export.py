"""`manage.py export [FILE]`: the palace, or a scope of it, as JSON lines."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandParser

from palace import handover, opening
from palace.domain.errors import InvalidInput
from palace.management.base import PalaceCommand
from palace.params import parse
from palace.sources.export import export_rows
from palace.sources.jsonl import print_line

# The filters of search, as options of the command.
REPEATABLE = ("tag", "entity")
FILTERS = [
    "wing",
    "room",
    "tag",
    "source_kind",
    "project",
    "branch",
    "path",
    "agent",
    "entity",
    "entity_match",
    "stale",
    "as_of",
    "from",
    "until",
    "known_at",
]


class Command(PalaceCommand):
    help = "Write the palace as JSON lines to a file (gzip when it ends in .gz) or standard output."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", default="-", help="a path, or - (the default)")
        for name in FILTERS:
            action = "append" if name in REPEATABLE else "store"
            parser.add_argument(f"--{name.replace('_', '-')}", dest=name, action=action)
        parser.add_argument("--history", action="store_true", help="every version (the default)")

    def run(self, **options: Any) -> None:
        given = {name: options[name] for name in FILTERS if options[name]}
        asked = {name: one if name in REPEATABLE else [one] for name, one in given.items()}
        timed = {"as_of", "from", "until"} & set(given)
        if options["history"] and timed:
            raise InvalidInput("--history and a time exclude each other.", help="Keep one.")
        if not timed:
            asked["history"] = ["1"]
        asked.setdefault("stale", ["include"])
        now = opening.clock()
        scope = parse(asked, now).scope
        handover.refuse_when_served()
        rows = export_rows(opening.store(), scope, now, given)
        with _output(options["file"]) as out:
            for row in rows:
                out.write(print_line(row) + "\n")


@contextmanager
def _output(name: str) -> Iterator[TextIO]:
    """A file that appears only when it is whole, or standard output."""
    if name == "-":
        out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n", closefd=False)  # noqa: SIM115
        yield out
        out.flush()
        return
    path, partial = Path(name), Path(name + ".partial")
    opening_it: Any = gzip.open if path.suffix == ".gz" else open
    with opening_it(partial, "wt", encoding="utf-8", newline="\n") as out:
        yield out
    os.replace(partial, path)
