"""Cursors and the scope as values."""

from __future__ import annotations

import base64
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.errors import InvalidInput
from palace.domain.query import Cursor, Scope
from palace.domain.time import MAX_INSTANT, MIN_INSTANT, Temporal

whole = st.integers(MIN_INSTANT, MAX_INSTANT)
maybe = st.one_of(st.none(), whole)
offsets = st.integers(0, 10**6)


@given(
    st.builds(
        Cursor, whole, st.text(max_size=40), maybe, maybe, offsets, st.one_of(st.none(), offsets)
    )
)
def test_a_cursor_comes_back_as_it_was(cursor: Cursor) -> None:
    assert Cursor.decode(cursor.encode()) == cursor


@given(st.text(max_size=60))
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidInput):
        assert Cursor.decode(Cursor.decode(text).encode()) == Cursor.decode(text)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [1, "id", None, None, 0],
        ["1", "id", None, None, 0, None],
        [1, 2, None, None, 0, None],
        [1, "id", None, None, -1, None],
        [1, "id", 0.5, None, 0, None],
        [True, "id", None, None, 0, None],
        [10**30, "id", None, None, 0, None],
        {"order": 1},
    ],
)
def test_a_forged_cursor_is_refused(parts: object) -> None:
    text = base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()
    with pytest.raises(InvalidInput):
        Cursor.decode(text)


def test_a_cursor_nested_without_end_is_refused() -> None:
    with pytest.raises(InvalidInput):
        Cursor.decode(base64.urlsafe_b64encode(b"[" * 40_000).decode())


def test_only_scopes_of_places_and_time_can_be_counted_from_the_chronology() -> None:
    scope = Scope(Temporal.as_of(5), wing="atlas", tags=("alpha",), project="mapper")
    assert scope.is_countable
    assert not Scope(Temporal.as_of(5), path="docs").is_countable
    assert not scope.at(Temporal.as_of(5, known_at=9)).is_countable
