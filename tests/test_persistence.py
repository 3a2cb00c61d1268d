"""What one process filed, the next one finds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

_FILE = """
from palace.curation import CurationService, NewDrawer
from palace.store.connection import Address, Store
import sys
store = Store(Address(sys.argv[1]))
times = iter(range(1_800_000_000_000_000, 1_900_000_000_000_000, 60_000_000))
curation = CurationService(store, lambda: next(times), "ada")
first = curation.file_drawer(NewDrawer("w", "r", "the tide comes at noon", name="tide"))
curation.file_drawer(NewDrawer("w", "s", "日本語のテキスト"))
curation.supersede(first.drawer.id, "the tide comes at one", reason="summer time")
"""

_LOOK = """
from dataclasses import asdict
import json, sys
from palace.domain.query import Scope
from palace.domain.time import Temporal
from palace.recall import RecallService
from palace.store.connection import Address, Store
store = Store(Address(sys.argv[1]))
recall = RecallService(store)
now = Scope(Temporal.as_of(1_900_000_000_000_000))
history = now.at(Temporal.history())
found = recall.search("tide", filter=history)
chain = recall.chain(found.hits[0].drawer.id, content=True)
print(json.dumps({
    "counts": [recall.count(now), recall.count(history)],
    "found": [hit.drawer.content for hit in found.hits],
    "now": [hit.drawer.content for hit in recall.search("tide", filter=now).hits],
    "japanese": recall.search("テキスト", filter=now).total,
    "chain": [asdict(one) for one in chain.versions],
}))
"""


def run(script: str, url: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, url], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_process_sees_what_the_first_wrote(tmp_path):
    url = f"surrealkv://{tmp_path / 'a palace'}"
    run(_FILE, url)
    first = run(_LOOK, url)
    seen = json.loads(first)
    assert seen["counts"] == [2, 3]
    assert seen["now"] == ["the tide comes at one"]
    assert sorted(seen["found"]) == ["the tide comes at noon", "the tide comes at one"]
    assert seen["japanese"] == 1
    old, new = seen["chain"]
    assert (old["former_name"], new["name"], old["close_reason"]) == ("tide", "tide", "summer time")
    assert old["valid_to"] == new["valid_from"]
    assert run(_LOOK, url) == first
