"""How well word search finds: the Cranfield collection and the LoCoMo conversations.

`python -m tests.bench.retrieval FOLDER` reads FOLDER/cranfield and FOLDER/locomo.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from palace.domain.measures import found_at, ndcg_at, recall_at
from palace.domain.query import Scope
from palace.domain.records import Drawer, content_hash
from palace.domain.results import SearchMode
from palace.domain.time import Temporal, parse_instant
from palace.recall import RecallService
from palace.store.connection import Address, Store
from palace.store.importing import write_batch

NOW = parse_instant("2026-11-30")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def filed(texts: dict[str, tuple[str, str]]) -> RecallService:
    """A palace of texts: id to (wing, text)."""
    store = Store(Address("mem://"))
    rows = [
        Drawer(
            id=ident,
            wing=wing,
            room="all",
            content=text,
            content_hash=content_hash(text),
            valid_from=NOW - 10,
            created_at=NOW - 10,
            source={"kind": "note"},
        )
        for ident, (wing, text) in texts.items()
        if text.strip()
    ]
    for start in range(0, len(rows), 100):
        write_batch(store, rows[start : start + 100], [], NOW)
    return RecallService(store, timeout_ms=0)


def ranked(service: RecallService, query: str, wing: str, limit: int = 10) -> list[str]:
    scope = Scope(Temporal.as_of(NOW), wing=wing)
    found = service.search(query, filter=scope, limit=limit, ranking=SearchMode.LEXICAL)
    return [hit.drawer.id for hit in found.hits]


def spoken(turn: dict[str, Any]) -> str:
    """A turn as a text: who said it, what, and what the picture showed."""
    caption = f" [{turn['caption']}]" if turn["caption"] else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def cranfield(folder: Path) -> None:
    texts = {
        str(one["_id"] if "_id" in one else one["id"]): (
            "cranfield",
            f"{one.get('title', '')}\n\n{one.get('text', '')}",
        )
        for one in lines(folder / "corpus.jsonl")
    }
    judged: dict[str, set[str]] = defaultdict(set)
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for row in csv.reader(file, delimiter="\t"):
            if len(row) >= 3 and row[-1].lstrip("-").isdigit() and int(row[-1]) > 0:
                judged[row[0]].add(row[1] if len(row) == 3 else row[2])
    service = filed(texts)
    ndcg, recall = [], []
    for query in lines(folder / "queries.jsonl"):
        ident = str(query["_id"] if "_id" in query else query["id"])
        if judged[ident]:
            found = ranked(service, query["text"], "cranfield")
            ndcg.append(ndcg_at(10, found, judged[ident]))
            recall.append(recall_at(10, found, judged[ident]))
    print(
        f"Cranfield, {len(ndcg)} queries: nDCG@10 {statistics.mean(ndcg):.3f}"
        f"  R@10 {statistics.mean(recall):.3f}"
    )


def locomo(folder: Path) -> None:
    turns = list(lines(folder / "drawers.jsonl"))
    sessions: dict[str, list[str]] = defaultdict(list)
    of_turn: dict[str, str] = {}
    wings: dict[str, str] = {}
    by_turn = {}
    for turn in turns:
        session = f"{turn['wing']}/{turn['room']}"
        sessions[session].append(spoken(turn))
        wings[session] = turn["wing"]
        of_turn[turn["id"]] = session
        by_turn[turn["id"]] = (turn["wing"], spoken(turn))
    questions = [one for one in lines(folder / "questions.jsonl") if one["evidence"]]
    whole = {name: (wings[name], "\n".join(texts)) for name, texts in sessions.items()}
    for what, texts, target in (
        ("a session", whole, lambda turn: of_turn.get(turn, "")),
        ("a turn", by_turn, lambda turn: turn),
    ):
        service = filed(texts)
        hits: dict[int, list[float]] = {1: [], 5: [], 10: []}
        for one in questions:
            wanted = {target(turn) for turn in one["evidence"]} - {""}
            if wanted:
                found = ranked(service, one["question"], one["wing"])
                for k, listed in hits.items():
                    listed.append(found_at(k, found, wanted))
        figures = "  ".join(f"R@{k} {statistics.mean(listed):.3f}" for k, listed in hits.items())
        print(f"LoCoMo, one drawer {what}, {len(hits[1])} questions: {figures}")


if __name__ == "__main__":
    cranfield(Path(sys.argv[1]) / "cranfield")
    locomo(Path(sys.argv[1]) / "locomo")
