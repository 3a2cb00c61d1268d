"""A second, plain-Python telling of the rules, and a small world to hold the palace against.

Nothing here calls the product's own rule: a question is answered by looking at every planted
drawer with the sentences of the design, one comparison each.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from palace.domain.query import Scope
from palace.domain.records import Drawer
from palace.domain.time import Temporal

START = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
HOUR = 3_600_000_000
# Neighbours one microsecond apart among far ones, so that boundaries meet.
INSTANTS = tuple(
    START + hour * HOUR + step for hour in (0, 1, 5, 24, 25, 200, 1_000) for step in range(4)
)
WINGS = ("atlas", "borealis", "cygnus")
ROOMS = ("routes", "crew", "stores")
TAGS = ("alpha", "beta", "gamma", "delta")
KINDS = ("file", "manual", "note", "diary")
PROJECTS = ("mapper", "sextant", "unlisted", None)
BRANCHES = ("main", "old", "spike", None)
PATHS = ("docs/a.md", "docs", "docs/deep/b.md", "docs2/c.md", "src/x.py", None)
AGENTS = ("ada", "bo", None)
WORDS = ("lynx", "ibex", "kiwi", "zebu", "orca", "puma", "emu", "gnu", "tapir", "okapi")
# The registry of branches: "unlisted" is not in it, so nothing of it is stale.
LIVING = (("mapper", "main"), ("mapper", "old"), ("sextant", "main"))


@dataclass(frozen=True)
class Question:
    """What is asked, in the words of the design: an instant, a window, or neither for history."""

    at: int | None = None
    start: int | None = None
    until: int | None = None
    known_at: int | None = None
    wing: str | None = None
    room: str | None = None
    tags: tuple[str, ...] = ()
    source_kind: str | None = None
    project: str | None = None
    branch: str | None = None
    path: str | None = None
    agent: str | None = None
    stale: str = "hide"

    @property
    def scope(self) -> Scope:
        """The same question as the product takes it."""
        rest = {name: getattr(self, name) for name in _CLAUSES}
        return Scope(self._time, stale=self.stale, **rest)

    @property
    def _time(self) -> Temporal:
        if self.at is not None:
            return Temporal.as_of(self.at, self.known_at)
        if self.start is not None and self.until is not None:
            return Temporal.between(self.start, self.until, self.known_at)
        return Temporal.history(self.known_at)


_CLAUSES = ("wing", "room", "tags", "source_kind", "project", "branch", "path", "agent")


def in_time(row: Drawer, asked: Question) -> bool:
    """Both axes: what was recorded by then, and what held at the instant or in the window."""
    end = row.valid_to
    if asked.known_at is not None:
        if row.created_at > asked.known_at:
            return False
        if end is not None:
            written = row.created_at if row.closed_at is None else row.closed_at
            end = end if written <= asked.known_at else None
    if asked.at is not None:
        return row.valid_from <= asked.at and (end is None or asked.at < end)
    if asked.start is None or asked.until is None:
        return True
    lasts = end is None or (end > asked.start and end > row.valid_from)
    return row.valid_from < asked.until and lasts


def is_stale(row: Drawer) -> bool:
    """Of a branch that a listed project no longer has."""
    project, branch = row.source.get("project"), row.source.get("branch")
    listed = {name for name, _ in LIVING}
    return branch is not None and project in listed and (project, branch) not in LIVING


def in_place(row: Drawer, asked: Question) -> bool:
    """Every clause but time."""
    source = row.source
    path = source.get("path")
    below = path is not None and (path == asked.path or path.startswith(f"{asked.path}/"))
    return (
        (asked.wing is None or row.wing == asked.wing)
        and (asked.room is None or row.room == asked.room)
        and all(tag in row.tags for tag in asked.tags)
        and (asked.source_kind is None or source["kind"] == asked.source_kind)
        and (asked.project is None or source.get("project") == asked.project)
        and (asked.branch is None or source.get("branch") == asked.branch)
        and (asked.agent is None or source.get("agent") == asked.agent)
        and (asked.path is None or below)
        and (asked.stale == "include" or is_stale(row) == (asked.stale == "only"))
    )


def answer(rows: Iterable[Drawer], asked: Question) -> list[Drawer]:
    """The drawers of a question, newest first, ties by id downwards."""
    kept = [row for row in rows if in_time(row, asked) and in_place(row, asked)]
    return sorted(kept, key=lambda row: (row.valid_from, row.id), reverse=True)


def holds_words(row: Drawer, words: Sequence[str], phrase: str = "") -> bool:
    """Any of the words, and the phrase if there is one, regardless of case."""
    held = re.findall(r"[a-z]+|[0-9]+", row.content.lower())
    asked = [word.lower() for word in [*words, *phrase.split()]]
    together = f" {phrase.lower()} " in f" {' '.join(held)} "
    return any(word in held for word in asked) and (not phrase or together)


def facets(rows: Sequence[Drawer], asked: Question) -> dict[str, Counter[tuple[str, str | None]]]:
    """Per filter, what each alternative would leave: all clauses hold but the filter's own."""
    without = {
        "wing": replace(asked, wing=None, room=None),
        "room": replace(asked, room=None),
        "source_kind": replace(asked, source_kind=None),
        "tag": replace(asked, tags=()),
        "project": replace(asked, project=None),
        "branch": replace(asked, branch=None),
    }
    found = {name: answer(rows, one) for name, one in without.items()}
    return {
        "wing": Counter((row.wing, None) for row in found["wing"]),
        "room": Counter((row.room, row.wing) for row in found["room"]),
        "source_kind": Counter((row.source["kind"], None) for row in found["source_kind"]),
        "tag": Counter((tag, None) for row in found["tag"] for tag in row.tags),
        "project": Counter(
            (row.source["project"], None) for row in found["project"] if row.source.get("project")
        ),
        "branch": Counter(
            (row.source["branch"], None) for row in found["branch"] if row.source.get("branch")
        ),
    }


def world(number: int = 160, seed: int = 7) -> list[Drawer]:
    """Random drawers: ghosts, open and closed ones, ends written late or at an unknown time."""
    draw = random.Random(seed)
    return [_drawer(draw, place) for place in range(number)]


def _drawer(draw: random.Random, number: int) -> Drawer:
    words = [draw.choice(WORDS) for _ in range(draw.randint(1, 6))]
    content = " ".join([*words, f"{number:05d}"])
    begins, created = draw.choice(INSTANTS), draw.choice(INSTANTS)
    ends = draw.choice((None, draw.choice(INSTANTS), draw.choice(INSTANTS)))
    closed = None if ends is None else draw.choice((None, max(created, draw.choice(INSTANTS))))
    called = f"name-{number}" if draw.random() < 0.3 else None
    return Drawer(
        id=f"{draw.getrandbits(64):016x}",
        wing=draw.choice(WINGS),
        room=draw.choice(ROOMS),
        content=content,
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        name=called if ends is None else None,
        former_name=None if ends is None else called,
        tags=tuple(draw.sample(TAGS, draw.randint(0, 3))),
        source=_source(draw),
        valid_from=begins,
        valid_to=ends,
        created_at=created,
        closed_at=closed,
    )


def _source(draw: random.Random) -> dict[str, Any]:
    source = {
        "kind": draw.choice(KINDS),
        "project": draw.choice(PROJECTS),
        "branch": draw.choice(BRANCHES),
        "path": draw.choice(PATHS),
        "agent": draw.choice(AGENTS),
    }
    return {name: value for name, value in source.items() if value is not None}
