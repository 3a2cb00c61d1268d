"""Real history: 703 proposals at every change of status, filed as chains, probed at random.

`python -m tests.bench.peps FOLDER` reads FOLDER/versions.jsonl.gz, files it into a palace and
asks 1,000 random (document, instant) questions; the answers are compared with the file.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from palace.domain.query import Scope
from palace.domain.records import content_hash
from palace.domain.time import Temporal, parse_instant
from palace.opening import clock
from palace.recall import RecallService
from palace.sources.importer import import_rows
from palace.sources.planning import Options
from palace.sources.report import ImportReport
from palace.store.connection import Address, Store


def versions(folder: Path) -> Iterator[dict[str, Any]]:
    """All versions but those without any text."""
    with gzip.open(folder / "versions.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (one for line in lines if (one := json.loads(line))["text"].strip())


def row(version: dict[str, Any]) -> dict[str, Any]:
    """A version as a row of the JSON lines format."""
    ident = str(version["id"])
    return {
        "wing": "peps",
        "room": "proposals",
        "key": ident,
        "name": ident,
        "content": version["text"],
        "valid_from": version["committed"],
        "tags": [version["status"]] if version["status"] else [],
        "source": {"kind": "file", "project": "peps"},
    }


def expected(folder: Path) -> dict[str, list[tuple[int, str]]]:
    """Per document: the instant each version began (moved apart where equal), and its hash."""
    begun: dict[str, list[tuple[int, int, str]]] = {}
    for number, version in enumerate(versions(folder)):
        at = parse_instant(version["committed"])
        entry = (at, number, content_hash(version["text"]))
        begun.setdefault(str(version["id"]), []).append(entry)
    result: dict[str, list[tuple[int, str]]] = {}
    for ident, entries in begun.items():
        placed: list[tuple[int, str]] = []
        for at, _, digest in sorted(entries):
            later = max(at, placed[-1][0] + 1) if placed else at
            placed.append((later, digest))
        result[ident] = placed
    return result


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        store = Store(Address(f"surrealkv://{temporary}/palace"))
        started = time.perf_counter()
        report = import_rows(
            store,
            lambda: ((number, row(one)) for number, one in enumerate(versions(folder), 1)),
            Options(now=clock()),
            ImportReport(),
        )
        seconds = time.perf_counter() - started
        print("\n".join(report.lines()))
        filed = report.filed["drawer"]
        print(f"{filed:,} drawers in {seconds:.0f} s: {filed / seconds:.0f}/s")
        print(f"{probe(RecallService(store), expected(folder), 1000)} of 1,000 probes are right")
        store.close()


def probe(recall: RecallService, truth: dict[str, list[tuple[int, str]]], number: int) -> int:
    """How many random (document, instant) questions are answered as the file has it."""
    chance = random.Random(11)
    idents, right = sorted(truth), 0
    for _ in range(number):
        ident = chance.choice(idents)
        placed = truth[ident]
        at = chance.choice(
            [
                chance.choice(placed)[0] + chance.choice((-1, 0, 1)),
                chance.randrange(placed[0][0] - 10**12, clock()),
            ]
        )
        wanted = next((digest for begun, digest in reversed(placed) if begun <= at), None)
        scope = Scope(Temporal.as_of(at), wing="peps", room="proposals")
        found = recall.get_by_name(scope, ident)
        right += (found.content_hash if found else None) == wanted
    return right


if __name__ == "__main__":
    main(Path(sys.argv[1]))
