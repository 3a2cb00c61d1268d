"""Words, phrases and runs of unspaced script: how texts and queries are cut alike."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_WORDS = 32

# Scripts written without spaces: kana and ideographs (hangul is spaced).
_UNSPACED = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_QUOTED = re.compile(r'["“”«»]([^"“”«»]+)["“”«»]')
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class WordQuery:
    """A query cut for the engine.

    ``words`` go to the word index, ``grams`` (pairs and singles) to the index of unspaced text,
    ``phrases`` and ``literals`` (as written, such as ``c++``) are clauses of their own.
    """

    words: tuple[str, ...]
    runs: tuple[str, ...]
    grams: tuple[str, ...]
    phrases: tuple[str, ...]
    literals: tuple[str, ...]
    dropped: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.grams or self.literals)


def grams_of(text: str) -> str:
    """Overlapping pairs and singles of every unspaced run, blank separated; '' when none."""
    pieces: list[str] = []
    for run in _RUN.findall(text):
        pieces.extend(run)
        pieces.extend(run[i : i + 2] for i in range(len(run) - 1))
    return " ".join(pieces)


def cut_query(text: str) -> WordQuery:
    """Cut a person's query; at most 32 distinct words count, the rest is told as ``dropped``."""
    phrases = tuple(dict.fromkeys(part.strip() for part in _QUOTED.findall(text) if part.strip()))
    spaced = _RUN.sub(" ", text)
    runs = tuple(dict.fromkeys(_RUN.findall(text)))
    words: dict[str, None] = {}
    literals: dict[str, None] = {}
    unquoted, quoted = _QUOTED.sub(" ", spaced), _RUN.sub(" ", " ".join(phrases))
    for piece in [*unquoted.split(), *quoted.split()]:
        _take_piece(piece, words, literals)
    kept = tuple(words)[:MAX_WORDS]
    return WordQuery(
        words=kept,
        runs=runs,
        grams=tuple(dict.fromkeys(gram for run in runs for gram in _query_grams(run))),
        phrases=phrases,
        literals=tuple(literals)[:MAX_WORDS],
        dropped=len(words) - len(kept),
    )


def _take_piece(piece: str, words: dict[str, None], literals: dict[str, None]) -> None:
    """Sort one blank-separated piece: plain words, and what must be found as written."""
    literal = piece.strip(",;:!?()[]{}<>'’…\"“”«»").rstrip(".").lower()
    found = [word.lower() for word in _WORD.findall(piece)]
    words.update(dict.fromkeys(found))
    if literal and not literal.isalnum() and _is_literal(literal, found):
        literals[literal] = None


def _is_literal(literal: str, found: list[str]) -> bool:
    """`c++`, `.env`, `foo_bar`: symbols that carry meaning, not an apostrophe or a dash alone."""
    symbols = re.sub(r"[\w'’-]+", "", literal)
    return bool(found) and (bool(symbols) or "_" in literal or literal.startswith("-"))


def _query_grams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def has_unspaced(text: str) -> bool:
    """Whether a text holds a run of a script written without spaces."""
    return _RUN.search(text) is not None
