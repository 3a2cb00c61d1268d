"""Reads what `git log --raw -z` prints: commits, and what each changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from palace.domain.time import MAX_INSTANT, MIN_INSTANT, SECOND

HEADER = "%x01%H%x1f%ct%x1f%an"
CHUNK = 1 << 16


@dataclass(frozen=True)
class Change:
    """One line of the raw log. ``path`` is where the file was, ``target`` where it is now."""

    status: str
    old_mode: str
    mode: str
    old_blob: str
    blob: str
    path: str
    target: str


@dataclass(frozen=True)
class Commit:
    """A commit of the first-parent line with its changes against its first parent."""

    sha: str
    at: int
    author: str
    changes: tuple[Change, ...]


def read_log(stream: IO[bytes]) -> Iterator[Commit]:
    """The commits of `git log -z --raw` in the order given."""
    return _commits(_split(stream))


def _split(stream: IO[bytes]) -> Iterator[bytes]:
    """The NUL-ended pieces of a stream."""
    rest = b""
    while chunk := stream.read(CHUNK):
        *pieces, rest = (rest + chunk).split(b"\x00")
        yield from pieces
    if rest:
        yield rest


def _commits(pieces: Iterator[bytes]) -> Iterator[Commit]:
    head: bytes | None = None
    changes: list[Change] = []
    for piece in pieces:
        token = piece.lstrip(b"\n")
        if token.startswith(b"\x01"):
            if head is not None:
                yield _commit(head, changes)
            head, changes = token, []
        elif token.startswith(b":"):
            changes.append(_change(token, pieces))
    if head is not None:
        yield _commit(head, changes)


def _commit(head: bytes, changes: list[Change]) -> Commit:
    sha, seconds, author = head[1:].decode("utf-8", "replace").split("\x1f", 2)
    try:
        at = int(seconds) * SECOND
    except ValueError:
        at = 0  # a damaged date: git itself shows the epoch
    # Room above for the steps that keep the versions of one file apart.
    at = min(max(at, MIN_INSTANT), MAX_INSTANT - SECOND)
    return Commit(sha, at, author.strip(), tuple(changes))


def _change(token: bytes, pieces: Iterator[bytes]) -> Change:
    old_mode, mode, old_blob, blob, status = token[1:].decode("ascii").split(" ")
    path = next(pieces).decode("utf-8", "surrogateescape")
    target = path
    if status[0] in "RC":
        target = next(pieces).decode("utf-8", "surrogateescape")
    return Change(status[0], old_mode, mode, old_blob, blob, path, target)
