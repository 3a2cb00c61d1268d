"""What all commands share: told errors end with exit code 1, and the store is closed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from palace import opening
from palace.domain.errors import PalaceError
from palace.sources.report import ImportReport


class PalaceCommand(BaseCommand):
    """A command over the palace. ``run`` does the work and may raise PalaceError."""

    requires_system_checks = []  # noqa: RUF012
    stealth_options = ("force_color",)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except PalaceError as error:
            raise CommandError(f"{error.message} {error.help}".strip()) from None
        finally:
            opening.close_stores()

    def run(self, **options: Any) -> None:
        raise NotImplementedError

    def tell(self, report: ImportReport) -> None:
        """Print a summary; refused lines make the command fail."""
        for line in report.lines():
            self.stderr.write(line)
        if report.refused:
            raise CommandError(f"{len(report.refused):,} lines were refused; the rest is filed.")


def progress_bar(unit: str, total: int | None = None) -> tqdm[Any]:
    """A bar on standard error, quiet when that is no terminal."""
    return tqdm(total=total, unit=f" {unit}", file=sys.stderr, disable=None)


def stepping(bar: tqdm[Any]) -> Callable[[int], None]:
    """A callback that moves a bar on."""

    def step(number: int) -> None:
        bar.update(number)

    return step
