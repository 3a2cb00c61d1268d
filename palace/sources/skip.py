"""Which files `mine` leaves out. Reasons are stable words, the same for both readers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from palace.domain.records import MAX_NAME_CHARS

ENVIRONMENT_MARK = "pyvenv.cfg"
IGNORED_FOLDERS = frozenset(
    """
    .git .hg .svn .bzr node_modules bower_components .venv venv .direnv __pycache__ .tox .nox
    .mypy_cache .ruff_cache .pytest_cache .hypothesis .eggs .gradle .next .nuxt .svelte-kit
    .terraform .idea .vs dist build target htmlcov
    """.split()
)


def is_ignored_folder(name: str) -> bool:
    """Whether a folder of this name holds what tools made, wherever it lies."""
    return name in IGNORED_FOLDERS or name.endswith(".egg-info")


def folders_of(path: str) -> Iterator[str]:
    """The folders above a path, outermost first: `a/b/c` gives `a`, `a/b`."""
    place = path.find("/")
    while place != -1:
        yield path[:place]
        place = path.find("/", place + 1)


def path_reason(path: str, environments: Collection[str] = ()) -> str | None:
    """Why a path is left out whatever it holds; ``environments`` are virtual environments.

    Bytes that are not UTF-8 stand in the path as lone surrogates.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in path):
        return "path_not_utf8"
    if any(folder in environments or _is_ignored(folder) for folder in folders_of(path)):
        return "ignored_folder"
    if any(not part.strip() for part in path.split("/")):
        return "blank_path"
    return "long_path" if len(path) > MAX_NAME_CHARS else None


def _is_ignored(folder: str) -> bool:
    return is_ignored_folder(folder.rpartition("/")[2])


def judge(data: bytes, max_bytes: int) -> tuple[str | None, str]:
    """The text of a file and an empty reason, or None and the reason to leave it out.

    Text is given as it is: line ends and a byte order mark stay.
    """
    if len(data) > max_bytes:
        return None, "too_large"
    if b"\x00" in data:
        return None, "binary"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None, "not_utf8"
    return (text, "") if text.strip() else (None, "empty")


def printable(path: str) -> str:
    """A path that can be written anywhere: bytes that are no text become `\\xNN`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
