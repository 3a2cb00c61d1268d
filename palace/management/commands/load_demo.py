"""`manage.py load_demo`: the demo palace, in a data folder of its own."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from palace import opening
from palace.management.base import PalaceCommand, progress_bar, stepping
from palace.sources import demo
from palace.sources.importer import import_rows
from palace.sources.planning import Options
from palace.sources.report import ImportReport


class Command(PalaceCommand):
    help = "Load the demo palace into its own folder; it is shown until you make your own."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--if-needed", action="store_true", help="only when neither palace nor demo is there"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be filed")

    def run(self, **options: Any) -> None:
        made = opening.palace_is_made() or opening.showing_demo()
        if options["if_needed"] and made:
            return
        rows = list(enumerate(demo.rows(), 1))
        chosen = Options(now=opening.clock(), dry_run=options["dry_run"])
        store = opening.open_store(opening.demo_address())
        with progress_bar("rows", len(rows)) as bar:
            report = import_rows(store, lambda: rows, chosen, ImportReport(), stepping(bar))
        self.tell(report)
