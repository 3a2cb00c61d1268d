"""Measures of retrieval: how good a ranking is against judged answers (binary relevance)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """The share of the relevant that stand among the first k; 1.0 when nothing is relevant."""
    if not relevant:
        return 1.0
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def found_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1.0 when any relevant one stands among the first k, else 0.0."""
    return float(bool(set(ranked[:k]) & set(relevant)))


def ndcg_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Normalised discounted cumulative gain (Järvelin, Kekäläinen 2002) with gains 0 and 1."""
    wanted = set(relevant)
    gained = sum(
        1 / math.log2(place + 1) for place, one in enumerate(ranked[:k], 1) if one in wanted
    )
    best = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(wanted)) + 1))
    return gained / best if best else 1.0
