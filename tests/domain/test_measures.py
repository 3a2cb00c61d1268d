"""Measures of retrieval against numbers worked by hand."""

from __future__ import annotations

import math

import pytest

from palace.domain.measures import found_at, ndcg_at, recall_at


def test_recall_counts_the_relevant_found():
    assert recall_at(2, ["a", "x", "b"], {"a", "b"}) == 0.5
    assert recall_at(3, ["a", "x", "b"], {"a", "b"}) == 1.0
    assert recall_at(5, [], set()) == 1.0


def test_found_is_all_or_nothing():
    assert found_at(1, ["x", "a"], {"a"}) == 0.0
    assert found_at(2, ["x", "a"], {"a"}) == 1.0


def test_ndcg_discounts_by_place():
    assert ndcg_at(10, ["a", "b"], {"a", "b"}) == 1.0
    expected = (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    assert ndcg_at(10, ["a", "x", "b"], {"a", "b"}) == pytest.approx(expected)
    assert ndcg_at(10, ["x"], {"a"}) == 0.0
