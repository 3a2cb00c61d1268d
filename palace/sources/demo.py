"""The demo palace: a story told in the text files of ``demo_story``, read as rows of JSON lines.

A story file is a sequence of drawers. A line ``=== {json}`` begins one: the row without its
content, which follows verbatim. ``=== defaults {json}`` on the first line fills the keys that the
rows of the file leave out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STORY = Path(__file__).with_name("demo_story")
MARK = "=== "
DEFAULTS = "=== defaults "


def rows() -> Iterator[dict[str, Any]]:
    """Every row of the demo: what holds comes before what is held, and what is told before ties."""
    graph = list(_graph_rows())
    for kind in ("wing", "room", "entity"):
        yield from (row for row in graph if row["type"] == kind)
    for path in sorted(STORY.glob("*.md")):
        yield from _drawers(path.read_text(encoding="utf-8"))
    for kind in ("mention", "fact"):
        yield from (row for row in graph if row["type"] == kind)


def _graph_rows() -> Iterator[dict[str, Any]]:
    text = (STORY / "graph.jsonl").read_text(encoding="utf-8")
    return (json.loads(line) for line in text.split("\n") if line)


def _drawers(text: str) -> Iterator[dict[str, Any]]:
    defaults: dict[str, Any] = {}
    if text.startswith(DEFAULTS):
        first, _, text = text.partition("\n")
        defaults = json.loads(first.removeprefix(DEFAULTS))
    for block in f"\n{text}".split(f"\n{MARK}")[1:]:
        head, _, content = block.partition("\n")
        yield _filled(json.loads(head), defaults) | {"content": content.strip("\n")}


def _filled(row: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The row over the defaults of its file; ``source`` is laid over key by key."""
    source = defaults.get("source", {}) | row.get("source", {})
    return {"type": "drawer"} | defaults | row | {"source": source}
