"""Vectors: what is let in, how short ones are filled, and their bytes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.embedding import (
    EMBEDDING_DIMENSION,
    check_vector,
    pack,
    pad,
    same_model,
    unpack,
)
from palace.domain.errors import InvalidInput

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60)


def ones(**changed):
    values = [1.0] * EMBEDDING_DIMENSION
    for place, value in changed.items():
        values[int(place[1:])] = value
    return values


@given(st.lists(numbers, min_size=768, max_size=768).filter(any))
def test_any_finite_direction_comes_out_at_length_one(values):
    unit = check_vector(values)
    assert unit.dtype == np.float32
    assert np.linalg.norm(unit.astype(float)) == pytest.approx(1, abs=1e-5)


def test_direction_is_kept():
    unit = check_vector([3, 4] + [0] * 766)
    assert unit[:3].tolist() == pytest.approx([0.6, 0.8, 0.0])


@pytest.mark.parametrize(
    "values",
    [
        None,
        "text",
        {"0": 1.0},
        ones(p3=math.nan),
        ones(p767=math.inf),
        ones(p0=10**400),
        ones(p0=True),
        ones(p0="1"),
        ones(p0=None),
        ones(p0=[1.0]),
        [0.0] * 768,
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_points_nowhere_is_refused(values):
    with pytest.raises(InvalidInput):
        check_vector(values)


@pytest.mark.parametrize("length", [0, 1, 384, 767, 769, 1536])
def test_another_length_has_its_own_code(length):
    with pytest.raises(InvalidInput) as refused:
        check_vector([1.0] * length)
    assert refused.value.code == "memcastle::embed::dimension_mismatch"


def test_filling_with_zeros_changes_no_cosine():
    random = np.random.default_rng(1)
    one, two = random.normal(size=384), random.normal(size=384)
    cosine = one @ two / (np.linalg.norm(one) * np.linalg.norm(two))
    assert pad(one.tolist(), 384) @ pad(two.tolist(), 384) == pytest.approx(cosine, abs=1e-6)
    assert not pad(one.tolist(), 384)[384:].any()


@pytest.mark.parametrize(("length", "native"), [(383, 384), (768, 384), (0, 0), (769, 769)])
def test_filling_takes_the_native_length_only(length, native):
    with pytest.raises(InvalidInput):
        pad([1.0] * length, native)


def test_bytes_are_little_endian_float32_and_come_back():
    unit = check_vector([1.0] + [0.0] * 767)
    assert pack(unit)[:4] == b"\x00\x00\x80\x3f"
    assert len(pack(unit)) == 3072
    assert np.array_equal(unpack(pack(unit)), unit)
    with pytest.raises(InvalidInput):
        unpack(b"\0" * 3071)


def test_a_probe_that_turned_is_another_model():
    kept = check_vector([1.0] * 768)
    assert same_model(kept, kept)
    assert not same_model(check_vector([1.0] * 700 + [0.5] * 68), kept)
