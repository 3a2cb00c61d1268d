"""What may be stored, ids, titles, and what was known of an end."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.errors import InvalidInput
from palace.domain.records import (
    MAX_CONTENT_BYTES,
    check_content,
    check_kind,
    check_tags,
    check_text,
    content_hash,
    derived_id,
    new_id,
    title_of,
)
from tests.conftest import MakeDrawer


@given(st.text(min_size=1, max_size=50))
def test_a_hash_is_of_the_bytes(text: str) -> None:
    assert content_hash(text) == hashlib.sha256(text.encode()).hexdigest()


@given(st.lists(st.text(max_size=8), max_size=3), st.lists(st.text(max_size=8), max_size=3))
def test_derived_ids_are_equal_only_for_equal_parts(a: list[str], b: list[str]) -> None:
    assert (derived_id(*a) == derived_id(*b)) == (a == b)


def test_new_ids_are_distinct_and_ordered_by_time() -> None:
    made = [new_id() for _ in range(200)]
    assert len(set(made)) == 200
    assert [one[:12] for one in made] == sorted(one[:12] for one in made)
    assert all(len(one) == 32 and one[12] == "7" and one[16] in "89ab" for one in made)


@pytest.mark.parametrize("content", ["", " \n", "a\x00b", "half \ud800"])
def test_content_that_is_no_text_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput):
        check_content(content)


def test_content_is_measured_in_bytes() -> None:
    assert check_content("é" * (MAX_CONTENT_BYTES // 2))
    with pytest.raises(InvalidInput, match="4 MiB"):
        check_content("é" * (MAX_CONTENT_BYTES // 2) + "!")


@pytest.mark.parametrize("name", ["", "  ", "a\x00", "\udfff", "x" * 1_001])
def test_names_that_are_no_text_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        check_text("name", name)


@pytest.mark.parametrize("tags", ["alpha", [1], ["a,b"], [""], None])
def test_odd_tags_are_refused(tags: object) -> None:
    with pytest.raises(InvalidInput):
        check_tags(tags)


def test_tags_keep_their_order_and_come_once() -> None:
    assert check_tags(["b", "a", "b"]) == ("b", "a")


def _nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


@pytest.mark.parametrize(
    "source",
    [
        {"n": float("nan")},
        {"n": [2**63]},
        {"n": {"half": "\ud800"}},
        {"half \ud800": 1},
        {"nul": "a\x00b"},
        _nested(60),
        {"branch": ["main"]},
        {"project": 0},
    ],
)
def test_a_source_that_cannot_be_kept_or_compared_is_refused(source: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        check_kind(source)


def test_a_source_has_a_known_kind() -> None:
    assert check_kind({"path": "a"}) == {"path": "a", "kind": "other"}
    with pytest.raises(InvalidInput, match="Unknown source kind"):
        check_kind({"kind": "rumour"})


@pytest.mark.parametrize(
    ("content", "title"),
    [("\n# Plan\nmore", "Plan"), ("---\n**Bold** words", "Bold words"), ("***\n", "")],
)
def test_a_title_is_the_first_line_with_words(content: str, title: str) -> None:
    assert title_of(content) == title


@given(st.text(max_size=400))
def test_a_title_is_short_and_one_line(content: str) -> None:
    assert len(title_of(content)) <= 120
    assert len(title_of(content).splitlines()) <= 1


def test_an_end_is_known_from_when_it_was_written(make_drawer: MakeDrawer) -> None:
    late = make_drawer(created_at=10, valid_to=5, closed_at=20)
    assert (late.known_end(19), late.known_end(20), late.known_end(None)) == (None, 5, 5)
    at_once = make_drawer(created_at=10, valid_to=5)
    assert (at_once.known_end(9), at_once.known_end(10)) == (None, 5)
