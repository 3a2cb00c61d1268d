"""Palaces made for measuring: words by Zipf's law, wings, rooms, tags, a third of it superseded."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from palace.domain.records import Drawer, content_hash
from palace.domain.time import DAY, SECOND, parse_instant
from palace.store.connection import Address, Store
from palace.store.importing import write_batch

FIRST = parse_instant("2024-01-01")
NOW = parse_instant("2026-11-30")
VOCABULARY = 20_000
WORDS_EACH = 80
SEED = 7


def vocabulary(chance: random.Random) -> list[str]:
    letters, vowels = "bcdfghklmnprstvz", "aeiou"
    made: dict[str, None] = {}
    while len(made) < VOCABULARY:
        syllables = chance.randint(2, 4)
        word = "".join(chance.choice(letters) + chance.choice(vowels) for _ in range(syllables))
        made[word] = None
    return list(made)


class Generator:
    """Drawers by number; ``df`` counts in how many drawers each word stands."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.chance = random.Random(SEED)
        self.words = vocabulary(self.chance)
        weights = (1 / (rank + 1) for rank in range(VOCABULARY))
        self.weights = list(itertools.accumulate(weights))
        self.df: dict[str, int] = {}

    def drawers(self) -> Iterator[Drawer]:
        span = NOW - FIRST
        for number in range(self.size):
            wing = number % 10
            room = self.chance.randrange(12)
            begun = FIRST + self.chance.randrange(span // SECOND) * SECOND
            ended = begun + self.chance.randrange(1, 200) * DAY
            closed = self.chance.random() < 0.3 and ended < NOW
            content = self.content()
            yield Drawer(
                id=f"{self.chance.getrandbits(128):032x}",
                wing=f"wing {wing}",
                room=f"room {room}",
                content=content,
                content_hash=content_hash(content),
                valid_from=begun,
                valid_to=ended if closed else None,
                created_at=begun + 60 * SECOND,
                closed_at=ended + 60 * SECOND if closed else None,
                tags=(f"tag{self.chance.randrange(40)}",),
                source={"kind": self.chance.choice(("file", "note", "transcript"))},
            )

    def content(self) -> str:
        chosen = self.chance.choices(self.words, cum_weights=self.weights, k=WORDS_EACH)
        for word in set(chosen):
            self.df[word] = self.df.get(word, 0) + 1
        return f"# {' '.join(chosen[:5])}\n\n{' '.join(chosen[5:])}"

    def word_near(self, frequency: int) -> str:
        """The word whose document frequency is nearest to one wanted."""
        return min(sorted(self.df), key=lambda word: abs(self.df[word] - frequency))


def make(directory: Path, size: int) -> Generator:
    """A palace of ``size`` drawers in a directory; without a sync at each commit."""
    generator = Generator(size)
    store = Store(Address(f"surrealkv://{directory}?sync=never"))
    drawers = generator.drawers()
    while batch := list(itertools.islice(drawers, 500)):
        write_batch(store, batch, [], NOW)
    store.close()
    return generator
