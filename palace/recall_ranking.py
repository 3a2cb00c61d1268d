"""Chooses and runs the ranking of a search: promises are kept or refused, degradation is told.

`auto` is hybrid when the query can be embedded and lexical otherwise. `semantic` and `hybrid` are
promises: without a vector they fail, unless ``degrade`` asks for less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from palace.domain.embedding import Vector, check_vector
from palace.domain.errors import InvalidInput, Notice, PalaceError, TimedOut
from palace.domain.query import Cursor, Scope
from palace.domain.results import SearchMode, SearchResult
from palace.domain.text import cut_query
from palace.embedding.provider import Provider
from palace.recall_deadline import Deadline
from palace.recall_meaning import Meaning, MeaningSearch
from palace.recall_words import WordSearch
from palace.store import vectors
from palace.store.connection import Store
from palace.store.search import Match

KEPT_QUERIES = 500


@dataclass(frozen=True)
class Wanted:
    """One search as asked. ``vector`` is the caller's own, of ``model``."""

    text: str
    filter: Scope
    limit: int
    cursor: Cursor | None = None
    facets: bool = False
    ranking: SearchMode = SearchMode.AUTO
    vector: Sequence[float] | None = None
    model: str | None = None
    degrade: bool = False


@dataclass(frozen=True)
class Ranking:
    """Runs a search over one store with an optional provider."""

    store: Store
    provider: Provider | None
    timeout_ms: int
    max_mb: int
    use_chronology: bool

    def search(self, wanted: Wanted) -> SearchResult:
        """The answer by the ranking asked for, or what `auto` chooses."""
        if wanted.ranking is SearchMode.LEXICAL:
            return self._words(wanted)
        deadline = Deadline(self.timeout_ms)
        try:
            meaning = self._meaning(wanted, deadline.part(0.5))
        except PalaceError as failure:
            if wanted.vector is not None:
                raise  # the caller's own vector is input, right or wrong
            return self._without_meaning(wanted, failure)
        if meaning is None:
            return self._without_meaning(wanted, None)
        if wanted.ranking is SearchMode.SEMANTIC:
            found = self._by_meaning.semantic(
                meaning, wanted.filter, wanted.limit, wanted.cursor, deadline
            )
        else:
            found = self._hybrid(wanted, meaning, deadline)
        return self._dressed(found, wanted).told(*self._by_meaning.missing(meaning.model))

    def _hybrid(self, wanted: Wanted, meaning: Meaning, deadline: Deadline) -> SearchResult:
        slow: list[Notice] = []

        def lexical(scope: Scope) -> tuple[list[Match], tuple[Notice, ...]]:
            try:
                leg = self._by_words.ranked_matches(wanted.text, scope, deadline.part(0.6))
            except TimedOut:
                slow.append(_slow("words"))
                return [], ()
            return leg

        try:
            found = self._by_meaning.hybrid(
                meaning, lexical, wanted.filter, wanted.limit, wanted.cursor, deadline
            )
        except TimedOut:
            if slow:
                raise
            return replace(self._words(wanted), timed_out=True).told(_slow("meaning"))
        return replace(found, timed_out=bool(slow)).told(*slow)

    def _meaning(self, wanted: Wanted, deadline: Deadline) -> Meaning | None:
        if wanted.vector is not None:
            return Meaning(check_vector(wanted.vector), self._model_of(wanted))
        if self.provider is None:
            return None
        kept: dict[tuple[str, str], Vector] = self.store.caches.setdefault("query_vectors", {})
        key = (self.provider.model, wanted.text)
        if key not in kept:
            if len(kept) > KEPT_QUERIES:
                kept.clear()
            (kept[key],) = self.provider.embed([wanted.text], kind="query", timeout=deadline.left)
        return Meaning(kept[key], self.provider.model)

    def _model_of(self, wanted: Wanted) -> str:
        """The model of the caller's vector: as named, else the only one there is."""
        if wanted.model:
            return wanted.model
        models = vectors.models(self.store, self.max_mb)
        if len(models) == 1:
            return models[0]
        if not models:
            raise InvalidInput(
                "The palace holds no vector to compare with.",
                code="memcastle::search::semantic_unavailable",
                help="Embed it first, or use ranking=lexical.",
            )
        raise InvalidInput(
            f"Of which model is the vector? The palace holds {', '.join(models)}.",
            help="Name it: embedding_model.",
        )

    def _without_meaning(self, wanted: Wanted, failure: PalaceError | None) -> SearchResult:
        """What is left when the query has no vector."""
        if wanted.ranking is SearchMode.AUTO:
            told = () if failure is None else (_fell_back(failure),)
            return self._words(wanted).told(*told)
        if not wanted.degrade:
            raise failure or _unavailable(wanted.ranking)
        reason = _fell_back(failure or _unavailable(wanted.ranking))
        if wanted.ranking is SearchMode.SEMANTIC:
            return SearchResult(ranking="semantic", total=None, notices=(reason,))
        return self._words(wanted).told(reason)

    def _words(self, wanted: Wanted) -> SearchResult:
        return self._by_words.search(
            wanted.text, wanted.filter, wanted.limit, wanted.cursor, wanted.facets
        )

    def _dressed(self, found: SearchResult, wanted: Wanted) -> SearchResult:
        """With the words of the query marked, and the alternatives of the scope counted."""
        marks = self._by_words.marks(cut_query(wanted.text), [hit.drawer for hit in found.hits])
        hits = tuple(replace(hit, highlights=marks[hit.drawer.id]) for hit in found.hits)
        return replace(found, hits=hits)

    @property
    def _by_words(self) -> WordSearch:
        return WordSearch(self.store, self.timeout_ms, self.use_chronology)

    @property
    def _by_meaning(self) -> MeaningSearch:
        return MeaningSearch(self.store, self.max_mb, self.use_chronology)


def _unavailable(ranking: SearchMode) -> PalaceError:
    return InvalidInput(
        f"Ranking “{ranking}” needs the query as a vector, and there is no provider.",
        code="memcastle::search::semantic_unavailable",
        help="Set MEMCASTLE_EMBED_PROVIDER, bring a vector, or use ranking=lexical or auto.",
    )


def _fell_back(failure: PalaceError) -> Notice:
    return Notice(failure.code, f"Not searched by meaning: {failure.message}")


def _slow(leg: str) -> Notice:
    return Notice("memcastle::search::timed_out", f"The search by {leg} took too long: left out.")
