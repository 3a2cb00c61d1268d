"""Passages: whole sentences and lines, nothing lost, nothing too long."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.errors import InvalidInput
from palace.embedding.passages import split, whole

texts = st.text(
    alphabet=st.sampled_from("abc déß .!?\n\r\t\"')。！」漢字…😀\u2028\u3000") | st.characters(),
    max_size=400,
)
sizes = st.integers(1, 90)
overlaps = st.integers(0, 60)


@given(texts, sizes, overlaps)
def test_everything_that_is_not_blank_is_in_a_passage(text, chars, overlap):
    inside = [False] * len(text)
    for start, end in split(text, chars=chars, overlap=overlap):
        inside[start:end] = [True] * (end - start)
    assert all(inside[place] or text[place].isspace() for place in range(len(text)))


@given(texts, sizes, overlaps)
def test_passages_are_bounded_ordered_and_share_no_more_than_the_overlap(text, chars, overlap):
    spans = split(text, chars=chars, overlap=overlap)
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert end - start <= chars
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start
        assert end < next_end
        assert next_start >= end - overlap


@given(st.text(max_size=90))
def test_a_short_text_is_one_passage_and_a_blank_one_none(text):
    assert len(split(text, chars=90)) == (1 if text.strip() else 0)


@given(st.text(max_size=60), st.integers(1, 50))
def test_the_one_passage_of_a_text_is_its_beginning(text, most):
    spans = whole(text, most=most)
    if not text[:most].strip():
        assert bool(spans) == bool(text.strip())
    else:
        assert spans == [(0, min(most, len(text)))]
    assert all(text[start:end].strip() and end - start <= most for start, end in spans)


def parts(text, **sizes):
    return [text[start:end] for start, end in split(text, **sizes)]


def test_sentences_stay_whole():
    text = "One here. Two is there! Is three far? Four."
    assert parts(text, chars=24, overlap=0) == ["One here. Two is there!", "Is three far? Four."]


def test_a_full_stop_inside_a_word_ends_nothing():
    assert parts("v1.2.3 is out. Get example.com now.", chars=20, overlap=0) == [
        "v1.2.3 is out.",
        "Get example.com now.",
    ]


def test_lines_stay_whole():
    assert parts("def a():\n    return 1\n\ndef b(): pass", chars=22, overlap=0) == [
        "def a():\n    return 1",
        "def b(): pass",
    ]


def test_unspaced_sentences_end_at_their_own_stops():
    assert parts("今日は晴れ。明日は雨。", chars=7, overlap=0) == ["今日は晴れ。", "明日は雨。"]


def test_neighbours_share_whole_sentences():
    text = "Aaaa one. Bbbb two. Cccc three. Dddd four."
    assert parts(text, chars=32, overlap=12) == [
        "Aaaa one. Bbbb two. Cccc three.",
        "Cccc three. Dddd four.",
    ]


def test_a_giant_line_is_cut_at_its_blanks():
    text = "word " * 1_000
    found = split(text, chars=100, overlap=20)
    assert all(text[start:end].startswith("word") for start, end in found)
    assert all(text[start:end].endswith("word") for start, end in found)


def test_a_giant_line_without_blanks_is_cut_hard():
    assert [end - start for start, end in split("x" * 2_500, chars=1_000, overlap=0)] == [
        1_000,
        1_000,
        500,
    ]


def test_no_passage_is_longer_than_a_provider_takes():
    assert max(end - start for start, end in split("x " * 20_000, chars=50_000)) <= 8_000


@pytest.mark.parametrize(
    "text", ["." * 1_000_000, " " * 1_000_000, "x" * 1_000_000, "a\n" * 500_000]
)
def test_a_million_characters_take_seconds_at_most(text):
    began = time.perf_counter()
    split(text)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("sizes", [{"chars": 0}, {"overlap": -1}])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(InvalidInput):
        split("text", **sizes)
