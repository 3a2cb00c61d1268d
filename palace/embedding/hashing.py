"""A provider for tests: words and their three-letter pieces hashed to 768 numbers.

It needs no model and gives the same vectors on every machine, and texts that share words come
close. It knows no meaning, so no setting of a running palace names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from palace.domain.embedding import EMBEDDING_DIMENSION, Vector, check_vector
from palace.embedding.provider import EmbedSettings, Kind
from palace.embedding.texts import prepared

_WORD = re.compile(r"\w+")
_PIECE_WEIGHT = 0.3


class HashingProvider:
    """Deterministic feature hashing."""

    model = "hashing-768"
    native_dimension: int | None = None

    def embed(
        self, texts: Sequence[str], *, kind: Kind, timeout: float | None = None
    ) -> list[Vector]:
        return [_vector(text) for text in prepared(texts, kind, EmbedSettings())]

    def close(self) -> None:
        """Nothing is held."""


def _vector(text: str) -> Vector:
    sums = np.zeros(EMBEDDING_DIMENSION)
    for feature, weight in _features(text):
        place, sign = _hashed(feature)
        sums[place] += sign * weight
    if not sums.any():
        # Only marks, or features that cancel each other: the text as a whole is its feature.
        place, sign = _hashed(text)
        sums[place] = sign
    return check_vector(sums)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(text.casefold()):
        yield word, 1.0
        edged = f"^{word}$"
        for at in range(len(edged) - 2):
            yield edged[at : at + 3] + "#", _PIECE_WEIGHT


@lru_cache(maxsize=65_536)
def _hashed(feature: str) -> tuple[int, int]:
    """The place of a feature and its sign, so that collisions cancel rather than add up."""
    number = int.from_bytes(blake2b(feature.encode("utf-8"), digest_size=8).digest(), "big")
    return (number >> 1) % EMBEDDING_DIMENSION, 1 if number & 1 else -1
