"""Looks at a palace's directory before and after the engine opens it.

The engine opens a directory whose manifest is gone as an empty database and accepts writes, so
a directory that is no palace must be refused before it is touched.
"""

from __future__ import annotations

from pathlib import Path

from palace.domain.errors import StoreDamaged


def creating_file(directory: Path) -> Path:
    """The file beside a palace that stands while it is being created."""
    return directory.with_name(directory.name + ".creating")


def check_before_open(directory: Path) -> bool:
    """Refuse a directory that is no palace; say whether this opening creates one.

    While it creates, a file beside the directory stands until the marker record is written, so
    that an interrupted creation goes on instead of being taken for damage.
    """
    if "?" in str(directory):
        raise StoreDamaged(
            f"The path {directory} holds a question mark, which the engine takes for an option.",
            help="Set MEMCASTLE_DATA_DIR to a path without one.",
        )
    if directory.exists() and not directory.is_dir():
        raise StoreDamaged(f"{directory} is a file, not a palace's directory.", help=_HELP)
    if creating_file(directory).exists():
        return True
    if directory.is_dir() and any(directory.iterdir()):
        if not (directory / "manifest").is_dir():
            raise StoreDamaged(f"{directory} is not empty and holds no palace.", help=_HELP)
        return False
    creating_file(directory).parent.mkdir(parents=True, exist_ok=True)
    creating_file(directory).touch()
    return True


_HELP = "Set MEMCASTLE_DATA_DIR to another directory, or put a backup of the palace back."


def damaged(where: str) -> StoreDamaged:
    """A store that opened without the marker record."""
    return StoreDamaged(f"{where} opened, but it is damaged or not a palace.", help=_HELP)
