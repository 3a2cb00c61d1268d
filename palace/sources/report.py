"""What an import read, filed, skipped and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MOST_TOLD = 50


@dataclass
class ImportReport:
    """Counts of one import. ``refused`` are ``(line, reason)``."""

    read: int = 0
    filed: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    closed: int = 0
    moved: int = 0
    cut: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)
    unknown_keys: set[str] = field(default_factory=set)
    ignored: Counter[str] = field(default_factory=Counter)

    def refuse(self, line: int, reason: str) -> None:
        self.refused.append((line, reason))

    def as_json(self) -> dict[str, object]:
        """For the hand-over to a running server."""
        return {
            "read": self.read,
            "filed": dict(self.filed),
            "there": dict(self.there),
            "closed": self.closed,
            "moved": self.moved,
            "cut": self.cut,
            "refused": [{"line": line, "reason": reason} for line, reason in self.refused],
            "unknown_keys": sorted(self.unknown_keys),
            "ignored": dict(self.ignored),
        }

    def merge(self, other: dict[str, object]) -> None:
        """Add the counts of an answer made by ``as_json``."""
        self.read += int(str(other["read"]))
        for name in ("filed", "there", "ignored"):
            getattr(self, name).update(other[name])
        for name in ("closed", "moved", "cut"):
            setattr(self, name, getattr(self, name) + int(str(other[name])))
        refused = other["refused"]
        assert isinstance(refused, list)
        self.refused.extend((one["line"], one["reason"]) for one in refused)
        self.unknown_keys.update(other["unknown_keys"])  # type: ignore[arg-type]

    def lines(self) -> list[str]:
        """The summary, one sentence a line."""
        told = [f"Read {self.read:,} rows."]
        told += [
            f"Filed {_many(number, kind)}." for kind, number in sorted(self.filed.items()) if number
        ]
        told += [
            f"{_many(number, kind)} there already."
            for kind, number in sorted(self.there.items())
            if number
        ]
        told += [
            f"Ignored {_many(number, kind)}." for kind, number in self.ignored.items() if number
        ]
        counted = (
            (self.closed, "versions ended."),
            (self.moved, "starts were moved by a microsecond to keep versions in order."),
            (self.cut, "overlapping ends were cut at the next version's start."),
        )
        told += [f"{number:,} {what}" for number, what in counted if number]
        if self.unknown_keys:
            told.append(f"Kept unknown keys under source.extra: {', '.join(self.unknown_keys)}.")
        told += [f"Line {line}: {reason}" for line, reason in self.refused[:MOST_TOLD]]
        if len(self.refused) > MOST_TOLD:
            told.append(f"… and {len(self.refused) - MOST_TOLD:,} more refused lines.")
        return told


def _many(number: int, kind: str) -> str:
    """`1 drawer`, `3 entities`."""
    plural = kind[:-1] + "ies" if kind.endswith("y") else kind + "s"
    return f"{number:,} {kind if number == 1 else plural}"
