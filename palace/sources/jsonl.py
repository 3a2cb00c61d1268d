"""JSON lines files: reading them twice, from a path, a pipe or a request's body."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from palace.domain.errors import InvalidInput
from palace.sources.planning import Numbered

GZIP = b"\x1f\x8b"
MAX_LINE_BYTES = 32 * 1024 * 1024


def parse_lines(lines: Iterable[bytes]) -> Iterator[Numbered]:
    """``(line number, row)``; a line that is no JSON gives its exception instead of a row."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield number, _parse(line)
            except (ValueError, RecursionError) as error:
                yield number, error


def _parse(line: bytes) -> Any:
    if len(line) > MAX_LINE_BYTES:
        raise ValueError("the line is longer than 32 MiB")
    return json.loads(line.decode("utf-8-sig"))


@contextmanager
def readable_twice(source: BinaryIO) -> Iterator[Callable[[], Iterator[Numbered]]]:
    """What reads a source from its beginning each time; a pipe is kept in a temporary file."""
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(source, kept)
        yield lambda: _read(kept)


@contextmanager
def file_readable_twice(path: Path) -> Iterator[Callable[[], Iterator[Numbered]]]:
    """The same for a file, without a copy."""
    try:
        with path.open("rb") as source:
            yield lambda: _read(source)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror or error}.",
            code="memcastle::import::unreadable",
            help="Give a file of JSON lines, or - for standard input.",
        ) from None


def _read(source: BinaryIO) -> Iterator[Numbered]:
    source.seek(0)
    packed = source.read(2) == GZIP
    source.seek(0)
    try:
        yield from parse_lines(gzip.GzipFile(fileobj=source) if packed else source)
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        yield 0, ValueError(f"the gzip data is damaged ({error}); the rest was not read")


def print_line(row: dict[str, Any]) -> str:
    """One row as one line; keys in the order given, text as it is."""
    return json.dumps(row, ensure_ascii=False, separators=(", ", ": "))
