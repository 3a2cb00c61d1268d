"""What an embed job is asked to do, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from palace.domain.errors import InvalidInput
from palace.embedding.provider import EmbedSettings

MOST_FAILURES = 1_000
_ASKED = {"wing": str, "limit": int, "reembed": int, "retry_failed": bool}


@dataclass(frozen=True)
class EmbedOptions:
    """Which drawers, and how they are cut. ``reembed`` is the instant since when vectors count."""

    wing: str | None = None
    limit: int | None = None
    reembed: int | None = None
    retry_failed: bool = False
    passages: bool = True
    chars: int = 1_000
    overlap: int = 100
    batch: int = 32
    failures: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, settings: EmbedSettings, asked: Mapping[str, Any], failures: Mapping[str, str]
    ) -> EmbedOptions:
        """The settings' way of cutting, with what a job's parameters ask."""
        return cls(
            passages=settings.passages,
            chars=settings.passage_chars,
            overlap=settings.passage_overlap,
            failures=failures,
            **checked_parameters(asked),
        )


def checked_parameters(asked: Mapping[str, Any]) -> dict[str, Any]:
    """A job's parameters, refused when one is unknown or of another kind."""
    for name, value in asked.items():
        if name not in _ASKED or type(value) is not _ASKED[name]:
            raise InvalidInput(
                f"An embed job takes no “{name[:80]}” of that kind.",
                help=f"It takes {', '.join(_ASKED)}.",
            )
    if asked.get("limit", 1) < 1:
        raise InvalidInput("The limit is at least 1.")
    return dict(asked)


@dataclass
class EmbedReport:
    """Counts of a run. ``failures`` are drawers with their error, those of earlier runs too."""

    model: str = ""
    total: int = 0
    stored: int = 0
    refused: int = 0
    blank: int = 0
    skipped: int = 0
    passages: int = 0
    copied: int = 0
    sent: int = 0
    characters: int = 0
    stopped: str = ""
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Drawers dealt with, for a bar that runs to ``total``."""
        return self.stored + self.refused + self.blank

    def fail(self, drawer: str, error: str) -> None:
        """Record a drawer that the provider refused; the count goes on beyond the list."""
        self.refused += 1
        if len(self.failures) < MOST_FAILURES or drawer in self.failures:
            self.failures[drawer] = error[:300]

    def as_json(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def lines(self) -> list[str]:
        """The run in words."""
        told = [
            f"{self.stored:,} of {self.total:,} drawers embedded with {self.model}: "
            f"{self.passages:,} passages, {self.sent:,} texts sent, {self.copied:,} copied."
        ]
        if self.blank:
            told.append(f"{self.blank:,} drawers are blank and cannot be embedded.")
        if self.skipped:
            told.append(
                f"{self.skipped:,} drawers were refused before and not tried again "
                "(--retry-failed tries them)."
            )
        if self.stopped:
            told.append(f"Stopped before the end: {self.stopped}.")
        return told + [f"refused: {one}: {why}" for one, why in self._new_failures()]

    def _new_failures(self) -> list[tuple[str, str]]:
        return list(self.failures.items())[-self.refused :] if self.refused else []
