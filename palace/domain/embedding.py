"""Vectors: the one dimension, what is let in, and how they are kept as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palace.domain.errors import InvalidInput

EMBEDDING_DIMENSION = 768

# Embedded once per model and kept: another answer under the same name is another model.
PROBE_TEXT = "The memory of a palace is kept in its rooms, one drawer for every thing once said."
PROBE_LEAST_COSINE = 0.999

Vector: TypeAlias = NDArray[np.float32]


def check_vector(values: object) -> Vector:
    """A list of 768 finite numbers, not all zero, as a unit vector; else InvalidInput."""
    return _unit(_numbers(values, EMBEDDING_DIMENSION))


def pad(values: object, native: int) -> Vector:
    """A vector of ``native`` numbers as a unit vector of 768: zeros change no cosine."""
    if not 1 <= native <= EMBEDDING_DIMENSION:
        raise InvalidInput(f"A native dimension lies between 1 and {EMBEDDING_DIMENSION}.")
    unit = np.zeros(EMBEDDING_DIMENSION, dtype=np.float32)
    unit[:native] = _unit(_numbers(values, native))
    return unit


def pack(vector: Vector) -> bytes:
    """The bytes kept in the palace: little-endian float32, on every machine."""
    return vector.astype("<f4").tobytes()


def unpack(packed: bytes) -> Vector:
    """The vector of such bytes."""
    if len(packed) != EMBEDDING_DIMENSION * 4:
        raise InvalidInput(
            f"A packed vector has {EMBEDDING_DIMENSION * 4} bytes, not {len(packed)}."
        )
    return np.frombuffer(packed, dtype="<f4").astype(np.float32)


def same_model(probe: Vector, kept: Vector) -> bool:
    """Whether two vectors of the probe text can come from one model."""
    return float(np.dot(probe, kept)) >= PROBE_LEAST_COSINE


def _numbers(values: object, length: int) -> NDArray[np.float64]:
    """The values as float64, refused unless a list of that many finite numbers."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise InvalidInput("A vector is a list of numbers.")
    if len(values) != length:
        raise InvalidInput(
            f"A vector has {length} numbers here, not {len(values)}.",
            code="memcastle::embed::dimension_mismatch",
        )
    # bool is an int to Python, yet true and false are no coordinates.
    if not all(type(value) is float or type(value) is int for value in values):
        raise InvalidInput("A vector holds numbers only.")
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise InvalidInput("A vector holds finite numbers only.") from None
    if not np.isfinite(numbers).all():
        raise InvalidInput("A vector holds finite numbers only.")
    return numbers


def _unit(numbers: NDArray[np.float64]) -> Vector:
    """Scaled to length one; by the largest number first, so that no square overflows."""
    largest = float(np.abs(numbers).max())
    if largest == 0.0:
        raise InvalidInput("A vector of zeros points nowhere: no cosine is defined with it.")
    scaled = numbers / largest
    return (scaled / np.linalg.norm(scaled)).astype(np.float32)
