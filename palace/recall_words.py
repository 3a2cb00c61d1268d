"""Word search as a service: common words, ordering, facets, marks, pages, the deadline."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from palace.domain.errors import InvalidInput, Notice
from palace.domain.facets import Row, facets_of, is_relaxed, relaxed
from palace.domain.query import MAX_QUERY_BYTES, Cursor, Scope
from palace.domain.records import Drawer
from palace.domain.results import Facet, Hit, SearchResult
from palace.domain.text import WordQuery, cut_query
from palace.recall_deadline import Deadline
from palace.recall_paging import first_cursor, next_cursor, pinned
from palace.recall_rankings import ranking
from palace.store import drawers, history
from palace.store import search as words_of
from palace.store.connection import Store
from palace.store.listing import Position

_WORD = re.compile(r"[^\W_]+")
MOST_MARKS = 400


@dataclass(frozen=True)
class _Asked:
    """One query on its way: as typed, as cut, what is too common in it, and its deadline."""

    text: str
    query: WordQuery
    common: words_of.CommonWords
    deadline: Deadline


@dataclass(frozen=True)
class WordSearch:
    """Lexical search over one store."""

    store: Store
    timeout_ms: int = 5000
    use_chronology: bool = True

    def search(
        self, text: str, filter: Scope, limit: int, cursor: Cursor | None, facets: bool
    ) -> SearchResult:
        """One page: all words first, then any word; `total` and facets over the whole answer."""
        if len(text.encode("utf-8", "replace")) > MAX_QUERY_BYTES:
            raise InvalidInput(
                "The query is longer than 10,000 bytes.", help="Ask with fewer words."
            )
        query = cut_query(text)
        told = _dropped(query)
        if query.is_empty:
            empty = Notice("memcastle::search::no_words", "The query holds no word to look for.")
            return SearchResult(total=0, notices=(*told, empty))
        deadline = Deadline(self.timeout_ms)
        common = words_of.common_words(self.store, query, deadline.left)
        told += _common(common)
        if set(common.skipped) >= set(query.words) and not query.grams:
            return self._newest(query, filter, limit, cursor, deadline).told(*told)
        asked = _Asked(text, query, common, deadline)
        return self._ranked(asked, filter, limit, cursor, facets).told(*told)

    def ranked_matches(
        self, text: str, filter: Scope, deadline: Deadline
    ) -> tuple[list[words_of.Match], tuple[Notice, ...]]:
        """The lexical leg of a fusion: all matches best first; none when no word can rank."""
        query = cut_query(text)
        told = _dropped(query)
        if query.is_empty:
            return [], told
        common = words_of.common_words(self.store, query, deadline.left)
        if set(common.skipped) >= set(query.words) and not query.grams:
            return [], told + _common(common)
        found = words_of.matches(self.store, filter, query, common, deadline.left)
        return found, told + _common(common)

    def _ranked(
        self, asked: _Asked, filter: Scope, limit: int, cursor: Cursor | None, facets: bool
    ) -> SearchResult:
        query, common, deadline = asked.query, asked.common, asked.deadline

        def rank(scope: Scope) -> list[words_of.Match]:
            return words_of.matches(self.store, scope, query, common, deadline.left)

        found, told = ranking(self.store, asked.text, filter, cursor, rank)
        scope = pinned(filter, cursor)
        start = max(0, cursor.order) if cursor else 0
        page = found[start : start + limit]
        seam = sum(1 for one in found if one.has_all)
        after = start + limit
        return SearchResult(
            hits=self._hits(query, page, start, deadline),
            ranking="lexical",
            total=len(found),
            notices=told,
            facets=self._facets(query, common, scope, found, deadline) if facets else {},
            cursor=_offset_cursor(filter, cursor, after, len(found)),
            offset=start,
            seam=seam if seam < len(found) else None,
        )

    def _newest(
        self,
        query: WordQuery,
        filter: Scope,
        limit: int,
        cursor: Cursor | None,
        deadline: Deadline,
    ) -> SearchResult:
        """No word ranks: those that hold all words, newest first; not counted."""
        position = Position(limit + 1, *((cursor.order, cursor.id) if cursor else (None, "")))
        scope = pinned(filter, cursor)
        found = words_of.newest_with(self.store, scope, query, position, deadline.left)
        page = [words_of.Match(ident, 0.0, True, "", "", "", ()) for _, ident in found[:limit]]
        return SearchResult(
            hits=self._hits(query, page, 0, deadline),
            ranking="newest",
            total=None,
            cursor=next_cursor(filter, cursor, found, limit, None),
            offset=cursor.offset if cursor else 0,
        )

    def _hits(
        self, query: WordQuery, page: list[words_of.Match], start: int, deadline: Deadline
    ) -> tuple[Hit, ...]:
        rank = {one.id: (start + place + 1, one.score) for place, one in enumerate(page)}
        found = drawers.get_many(self.store, [one.id for one in page])
        linked = [one.id for one in found if one.supersedes or one.superseded_by]
        numbers = history.places_in_chain(self.store, linked)
        marks = self.marks(query, found)
        return tuple(
            Hit(
                drawer,
                rank[drawer.id][1],
                {"lexical": {"rank": rank[drawer.id][0], "score": rank[drawer.id][1]}},
                (),
                marks[drawer.id],
                *numbers.get(drawer.id, (1, 1)),
            )
            for drawer in found
        )

    def _facets(
        self,
        query: WordQuery,
        common: words_of.CommonWords,
        scope: Scope,
        found: list[words_of.Match],
        deadline: Deadline,
    ) -> dict[str, tuple[Facet, ...]]:
        rows: list[Row]
        if is_relaxed(scope):
            rows = [
                (one.wing, one.room, one.kind, one.tags, one.project, one.branch, 1)
                for one in found
            ]
        else:
            rows = words_of.matching_cells(self.store, relaxed(scope), query, common, deadline.left)
        return facets_of(rows, scope)

    def _telling(self, query: WordQuery) -> tuple[str, ...]:
        """The words worth marking: those that rank; all of them when none does."""
        common = words_of.common_words(self.store, query).unranked
        return tuple(word for word in query.words if word not in common) or query.words

    def marks(
        self, query: WordQuery, found: list[Drawer]
    ) -> dict[str, tuple[tuple[int, int], ...]]:
        """Code-point offsets of matched words, per drawer: as the index folds and stems them."""
        spans = {one.id: [match.span() for match in _WORD.finditer(one.content)] for one in found}
        words = {one.content[start:end].lower() for one in found for start, end in spans[one.id]}
        stems = words_of.stems(self.store, [*query.words, *words])
        wanted = {token for word in self._telling(query) for token in stems[word]}
        return {
            one.id: _merge(
                [
                    *(
                        (start, end)
                        for start, end in spans[one.id]
                        if (tokens := stems[one.content[start:end].lower()])
                        and set(tokens) <= wanted
                    ),
                    *_substrings(one.content, (*query.runs, *query.literals)),
                ]
            )
            for one in found
        }


def _substrings(content: str, pieces: tuple[str, ...]) -> list[tuple[int, int]]:
    lowered = content.lower()
    if len(lowered) != len(content):  # folding moved the offsets; mark nothing rather than wrong
        lowered = content
    return [match.span() for piece in pieces for match in re.finditer(re.escape(piece), lowered)]


def _merge(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted, without overlaps, at most 400."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged[:MOST_MARKS])


def _offset_cursor(filter: Scope, before: Cursor | None, after: int, total: int) -> str | None:
    if after >= total:
        return None
    if before:
        return replace(before, order=after, offset=after, total=total).encode()
    return first_cursor(filter, after, "", after, total).encode()


def _dropped(query: WordQuery) -> tuple[Notice, ...]:
    if not query.dropped:
        return ()
    return (
        Notice(
            "memcastle::search::words_dropped",
            f"Only the first 32 distinct words count; {query.dropped} were left out.",
        ),
    )


def _common(common: words_of.CommonWords) -> tuple[Notice, ...]:
    if not common.unranked and not common.skipped:
        return ()
    words = ", ".join(f"“{word}”" for word in dict.fromkeys(common.unranked + common.skipped))
    more = " They narrow all-words matches only." if common.skipped else ""
    return (
        Notice(
            "memcastle::search::common_words",
            f"So many memories hold {words} that it does not rank.{more}",
        ),
    )
