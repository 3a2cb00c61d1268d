"""Word search: BM25 in the database, inside the one scope.

Drawers with all words come first, then those with any word: one ordering, ties by id. The engine
gives no score to a word that half of the drawers hold, and pays about 0.02 ms for every match; so
a word held by very many drawers only narrows (`CommonWords`), and alone it lists newest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from palace.domain.facets import Row
from palace.domain.query import Scope
from palace.domain.records import derived_id
from palace.domain.text import WordQuery, has_unspaced
from palace.store.branches import known_branches
from palace.store.chronology import resident
from palace.store.connection import Store
from palace.store.listing import Position, page_ids
from palace.store.places import tree
from palace.store.scope import Fragment, fragment

# Above this many matches a word is not scored; below the lower bound it always is.
MOST_SCORED = 20_000
ALWAYS_SCORED = 2_000


@dataclass(frozen=True)
class Match:
    """One matching drawer and the place, kind and tags it is counted by."""

    id: str
    score: float
    has_all: bool
    wing: str
    room: str
    kind: str
    tags: tuple[str, ...]
    project: str | None = None
    branch: str | None = None


@dataclass(frozen=True)
class CommonWords:
    """Words that do not rank (half of the drawers hold them), and those not even scored."""

    unranked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


_DF = "RETURN array::len((SELECT VALUE id FROM drawer WHERE content @@ $word LIMIT $most))"


def common_words(store: Store, query: WordQuery, timeout: float | None = None) -> CommonWords:
    """Which words of a query are too common to rank; document frequencies are kept."""
    total = int(resident(store).counts_all)
    unranked, skipped = [], []
    for word in query.words if total else ():
        frequency = _frequency(store, word, total, timeout)
        if 2 * frequency >= total:
            unranked.append(word)
        if frequency > ALWAYS_SCORED and frequency >= min(MOST_SCORED, total // 2):
            skipped.append(word)
    return CommonWords(tuple(unranked), tuple(skipped))


def _frequency(store: Store, word: str, total: int, timeout: float | None) -> int:
    """How many drawers hold a word, counted up to the bound that matters."""
    known: dict[str, tuple[int, int]] = store.caches.setdefault("frequencies", {})
    seen = known.get(word)
    if seen and (seen[1] == total or (total > 2_000 and abs(seen[1] - total) < total // 20)):
        return seen[0]
    most = max(min(MOST_SCORED, (total + 1) // 2), ALWAYS_SCORED + 1)
    frequency = int(store.query(_DF, timeout=timeout, word=word, most=most))
    if len(known) > 10_000:
        known.clear()
    known[word] = (frequency, total)
    return frequency


# Only the operator that the index is walked for asks for all words; elsewhere in a statement it
# is true for any of them. So those that hold all words are a walk of their own.
_MATCHES = """
SELECT VALUE [record::id(id), {score}, record::id(room), source.kind, tags,
    source.project, source.branch]
FROM drawer WHERE {match} AND {scope}
"""
_ALL = "SELECT VALUE record::id(id) FROM drawer WHERE content @1@ $q_all"


def matches(
    store: Store, scope: Scope, query: WordQuery, common: CommonWords, timeout: float | None
) -> list[Match]:
    """All matches in the scope, best first."""
    where = fragment(scope, known_branches(store))
    ranked = [word for word in query.words if word not in common.skipped]
    match = _match(query, ranked)
    sql = _MATCHES.format(score=_score(query, ranked), match=match.sql, scope=where.sql)
    one_word = len(query.words) < 2
    walks = f"{sql}; {'RETURN NONE' if one_word else _ALL}"
    rows, whole = store.query_all(walks, timeout=timeout, **match.variables, **where.variables)
    names, holds_all = _room_names(store, {row[2] for row in rows}), set(whole or ())
    found = [
        Match(ident, score, one_word or ident in holds_all, *names[room], kind, tuple(tags), *rest)
        for ident, score, room, kind, tags, *rest in rows
    ]
    return sorted(found, key=lambda one: (not one.has_all, -one.score, one.id))


_CELLS = """
SELECT VALUE [record::id(room), source.kind, tags, source.project, source.branch]
FROM drawer WHERE {match} AND {scope}
"""


def matching_cells(
    store: Store, scope: Scope, query: WordQuery, common: CommonWords, timeout: float | None
) -> list[Row]:
    """Wing, room, kind, tags, project, branch and 1 for every match: what facets are counted of."""
    where = fragment(scope, known_branches(store))
    match = _match(query, [word for word in query.words if word not in common.skipped])
    sql = _CELLS.format(match=match.sql, scope=where.sql)
    rows = store.query(sql, timeout=timeout, **match.variables, **where.variables)
    names = _room_names(store, {row[0] for row in rows})
    return [(*names[room], kind, tuple(tags), *rest, 1) for room, kind, tags, *rest in rows]


def newest_with(
    store: Store, scope: Scope, query: WordQuery, position: Position, timeout: float | None
) -> list[tuple[int, str]]:
    """Ids (with their beginnings) of drawers holding all words, newest first: no word ranks."""
    return page_ids(store, scope, position, also=_all_words(store, query), timeout=timeout)


# With words beside it the engine walks the words' index and forgets this operator, so it stands
# once for its score and once as a plain test.
_GRAMS = "cjk @2@ $q_grams AND string::split(cjk ?? '', ' ') CONTAINSALL $q_pieces"


def _match(query: WordQuery, ranked: list[str]) -> Fragment:
    """What makes a drawer a match at all."""
    clauses = ["content @0,OR@ $q_any"] if ranked else []
    if query.grams:
        clauses.append(_GRAMS)
    bound = {"q_any": " ".join(ranked), "q_all": " ".join(query.words), **_pieces(query)}
    return _joined(clauses, bound, _exact(query))


def _all_words(store: Store, query: WordQuery) -> Fragment:
    """A test for all words that needs no walk of the words' index."""
    tokens = {token for found in stems(store, list(query.words)).values() for token in found}
    clauses = ["search::analyze('words', content) CONTAINSALL $q_tokens"]
    if query.grams:
        clauses.append("string::split(cjk ?? '', ' ') CONTAINSALL $q_pieces")
    return _joined(clauses, {"q_tokens": sorted(tokens), **_pieces(query)}, _exact(query))


def _pieces(query: WordQuery) -> dict[str, Any]:
    return {"q_grams": " ".join(query.grams), "q_pieces": list(query.grams)}


def _joined(clauses: list[str], bound: dict[str, Any], exact: Fragment) -> Fragment:
    sql = " AND ".join([*clauses, *([exact.sql] if exact.sql else [])])
    return Fragment(sql, {**bound, **exact.variables})


# The same cut and folding on both sides; blanks at both ends keep words whole.
_FOLDED = "(' ' + array::join(search::analyze('plain', {text}), ' ') + ' ')"


def _exact(query: WordQuery) -> Fragment:
    """Quoted phrases, and pieces found as written (`c++`, `.env`, `foo_bar`)."""
    clauses: list[str] = []
    bound: dict[str, Any] = {}
    for number, phrase in enumerate(query.phrases):
        name = f"q_phrase{number}"
        bound[name] = phrase
        if has_unspaced(phrase):
            clauses.append(f"string::lowercase(content) CONTAINS string::lowercase(${name})")
        else:
            folded = _FOLDED.format(text="content"), _FOLDED.format(text=f"${name}")
            clauses.append(f"{folded[0]} CONTAINS {folded[1]}")
    for number, literal in enumerate(query.literals):
        bound[f"q_literal{number}"] = literal
        clauses.append(f"string::lowercase(content) CONTAINS $q_literal{number}")
    return Fragment(" AND ".join(clauses), bound)


def _score(query: WordQuery, ranked: list[str]) -> str:
    parts = ["search::score(0)"] if ranked else []
    if query.grams:
        parts.append("search::score(2)")
    return " + ".join(parts) or "0.0"


def _room_names(store: Store, needed: set[str]) -> dict[str, tuple[str, str]]:
    """Room ids to names; ids are derived from names, so what is known stays true."""
    cached: dict[str, tuple[str, str]] = store.caches.get("room_names", {})
    if needed <= cached.keys():
        return cached
    # A write that has just made a room may not have been counted as one yet.
    store.caches.pop("tree", None)
    names = {
        derived_id("room", room.wing, room.name): (room.wing, room.name)
        for wing in tree(store)
        for room in wing.rooms
    }
    store.caches["room_names"] = names
    return names


_STEMS = "RETURN $words.map(|$word| search::analyze('words', $word))"


def stems(store: Store, words: list[str]) -> dict[str, tuple[str, ...]]:
    """How the index sees words: the engine's own folding and stemming, kept by word."""
    known: dict[str, tuple[str, ...]] = store.caches.setdefault("stems", {})
    if len(known) > 200_000:
        known.clear()
    missing = [word for word in dict.fromkeys(words) if word not in known]
    if missing:
        answer = store.query(_STEMS, words=missing)
        known.update((word, tuple(tokens)) for word, tokens in zip(missing, answer, strict=True))
    return {word: known[word] for word in words}
