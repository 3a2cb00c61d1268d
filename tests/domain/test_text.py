"""How queries are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from palace.domain.text import MAX_WORDS, cut_query, grams_of, has_unspaced


def test_words_are_cut_and_folded_once() -> None:
    assert cut_query("Lynx, lynx; IBEX!").words == ("lynx", "ibex")


def test_a_quoted_phrase_is_a_clause_and_its_words_count() -> None:
    query = cut_query('zebu "lynx ibex"')
    assert query.phrases == ("lynx ibex",)
    assert query.words == ("zebu", "lynx", "ibex")


def test_symbols_that_carry_meaning_are_found_as_written() -> None:
    assert cut_query("c++ .env foo_bar don't (aside)").literals == ("c++", ".env", "foo_bar")


def test_words_beyond_the_bound_are_counted() -> None:
    query = cut_query(" ".join(f"w{number}" for number in range(40)))
    assert len(query.words) == MAX_WORDS
    assert query.dropped == 8


def test_unspaced_runs_become_pairs_and_singles() -> None:
    assert grams_of("ab 東京都 x") == "東 京 都 東京 京都"
    assert cut_query("東京都").grams == ("東京", "京都")
    assert cut_query("東").grams == ("東",)


@given(st.text(max_size=80))
def test_every_query_is_cut(text: str) -> None:
    query = cut_query(text)
    assert len(query.words) <= MAX_WORDS
    assert all(word and word == word.lower() and " " not in word for word in query.words)
    assert bool(query.runs) == has_unspaced(text)
    assert all(gram in grams_of(text).split() for gram in query.grams)


def test_what_is_written_with_signs_is_found_so_in_quotes_too() -> None:
    query = cut_query('"modern C++ code" plain')
    assert query.phrases == ("modern C++ code",)
    assert query.words == ("plain", "modern", "c", "code")
    assert query.literals == ("c++",)
