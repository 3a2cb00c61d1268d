"""RecallService: every read of the palace, for pages, routes and commands alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from palace.domain.errors import InvalidInput, Notice, OperationFailed
from palace.domain.query import DEFAULT_LIMIT, Scope
from palace.domain.records import Drawer, Entity, Fact, Room, Wing
from palace.domain.results import AuthContext, Facet, Hit, SearchMode, SearchResult
from palace.domain.time import Temporal
from palace.domain.timebar import TimeBar, time_bar
from palace.embedding.provider import Provider
from palace.recall_paging import clamp_limit, next_cursor, pinned, read_cursor
from palace.recall_places import Palace, counted_palace, unknown_names
from palace.recall_ranking import Ranking, Wanted
from palace.store import drawers, graph, history, listing, places, timeline
from palace.store.connection import Store
from palace.store.timeline import Changes

SearchFilter = Scope  # the older name: namespace = room, domain = wing
READ = "view"


@dataclass(frozen=True)
class RecallService:
    """Reads over one palace. Frozen; the ``with_`` methods return copies.

    Times come with the filter, never from a clock in here.
    """

    index: Store | None = None
    embedder: Provider | None = None
    vector: Any = None
    graph: Any = None
    scope_filter: Scope | None = None
    timeout_ms: int = 5000
    use_chronology: bool = True
    resident_max_mb: int = 4096

    def with_index(self, index: Store) -> RecallService:
        return replace(self, index=index)

    def with_embedder(self, embedder: Provider) -> RecallService:
        return replace(self, embedder=embedder)

    def with_timeout_ms(self, timeout_ms: int) -> RecallService:
        return replace(self, timeout_ms=timeout_ms)

    # Search and lists ---------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        ranking: SearchMode = SearchMode.AUTO,
        filter: Scope,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
        facets: bool = False,
        query_embedding: Sequence[float] | None = None,
        embedding_model: str | None = None,
        degrade: bool = False,
    ) -> SearchResult:
        """Drawers for a query, best first. A blank query is InvalidInput.

        ``query_embedding`` is the caller's vector of ``embedding_model``; ``degrade`` answers by
        less where a promise could not be kept.
        """
        if not query.strip():
            raise InvalidInput("The query is blank.", help="Give a word, or list with `*`.")
        limit, told = clamp_limit(limit)
        wanted = Wanted(
            query,
            filter,
            limit,
            read_cursor(cursor),
            facets,
            ranking,
            query_embedding,
            embedding_model,
            degrade,
        )
        result = self._ranking.search(wanted)
        if facets and result.ranking in ("semantic", "hybrid"):
            result = replace(result, facets=self.facets(filter))
        return replace(result, notices=told + self.unknown_names(filter) + result.notices)

    @property
    def has_vector_search(self) -> bool:
        """Whether queries can be embedded here."""
        return self.index is not None and self.embedder is not None

    @property
    def _ranking(self) -> Ranking:
        return Ranking(
            self._store, self.embedder, self.timeout_ms, self.resident_max_mb, self.use_chronology
        )

    def list_all(self, filter: Scope, limit: int, cursor: str | None = None) -> SearchResult:
        """Newest first without content."""
        return self._list(filter, limit, cursor, content="none")

    def list_all_with_content(
        self,
        filter: Scope,
        limit: int,
        cursor: str | None = None,
        *,
        facets: bool = False,
        preview: bool = False,
    ) -> SearchResult:
        """Newest first with the full content (or its first 1,200 characters)."""
        content = "preview" if preview else "full"
        result = self._list(filter, limit, cursor, content=content)
        return replace(result, facets=self.facets(filter)) if facets else result

    def recent(self, limit: int, filter: Scope) -> list[Drawer]:
        """The newest drawers."""
        return [hit.drawer for hit in self._list(filter, limit, None, content="full").hits]

    def _list(self, filter: Scope, limit: int, cursor: str | None, *, content: str) -> SearchResult:
        limit, told = clamp_limit(limit)
        at = read_cursor(cursor)
        scope = pinned(filter, at)
        position = listing.Position(limit + 1, at.order if at else None, at.id if at else "")
        found = listing.page_ids(self._store, scope, position, timeout=self._seconds)
        total = at.total if at else self.count(filter)
        idents = [ident for _, ident in found[:limit]]
        hits = self.hits(drawers.get_many(self._store, idents, content=content))
        return SearchResult(
            hits=tuple(hits),
            ranking="newest",
            total=total,
            notices=told + self.unknown_names(filter),
            cursor=next_cursor(filter, at, found, limit, total),
            offset=at.offset if at else 0,
        )

    def hits(self, found: Sequence[Drawer]) -> list[Hit]:
        """Drawers with their place in their chains."""
        linked = [one.id for one in found if one.supersedes or one.superseded_by]
        numbers = history.places_in_chain(self._store, linked)
        return [Hit(one, None, {}, (), (), *numbers.get(one.id, (1, 1))) for one in found]

    # Counts and time ----------------------------------------------------------------------------

    def count(self, filter: Scope) -> int:
        """How many drawers a scope holds."""
        return timeline.count(self._store, filter, use_chronology=self.use_chronology)

    def facets(self, filter: Scope) -> dict[str, tuple[Facet, ...]]:
        """Counts of each filter's alternatives at the chosen time."""
        return timeline.facets(self._store, filter, use_chronology=self.use_chronology)

    def palace(self, filter: Scope) -> Palace:
        """The whole tree with counts in the scope; empty rooms stay, with zero."""
        return counted_palace(self._store, filter, use_chronology=self.use_chronology)

    def changes(self, filter: Scope) -> Changes:
        """When drawers of the scope began and ended, over all of time."""
        return timeline.changes(self._store, filter, use_chronology=self.use_chronology)

    def time_bar(self, filter: Scope, now: int, step: int | None = None) -> TimeBar:
        """Buckets from the first memory of the scope to now."""
        changes = self.changes(filter)
        return time_bar(changes.began, changes.ended, now, step)

    # One drawer ---------------------------------------------------------------------------------

    def get_by_id(self, ident: str) -> Drawer | None:
        """The drawer of an id, whatever its validity; None when there is none."""
        return drawers.get(self._store, ident)

    def updated_at(self, ident: str) -> int | None:
        """When a drawer was last written: what a curator's form carries along."""
        return drawers.updated_at(self._store, ident)

    def get_by_name(self, filter: Scope, name: str) -> Drawer | None:
        """Who held a name (or former name) in the filter's room at its time."""
        return drawers.by_name(self._store, filter, name)

    def chain(self, ident: str, *, content: bool = False) -> history.Chain:
        """All versions around a drawer, oldest first."""
        return history.chain(self._store, ident, content="full" if content else "none")

    def mentioned(self, ident: str) -> tuple[Entity, ...]:
        return graph.mentioned(self._store, ident)

    def facts_about(self, entities: Sequence[Entity], time: Temporal) -> tuple[Fact, ...]:
        return graph.facts_about(self._store, [one.id for one in entities], time)

    def near_by_entity(
        self, ident: str, filter: Scope, limit: int = 8
    ) -> list[tuple[Drawer, tuple[str, ...]]]:
        """Drawers that mention what this one mentions, with the shared names."""
        near = graph.shared_entities(self._store, ident, filter, limit)
        found = drawers.get_many(self._store, [one.id for one in near], content="preview")
        names = {one.id: one.names for one in near}
        return [(drawer, names[drawer.id]) for drawer in found]

    def ping(self) -> None:
        """Ask the store for nothing at all: raises when it does not answer."""
        self._store.query("RETURN 1", timeout=self._seconds)

    # Places -------------------------------------------------------------------------------------

    def wing(self, name: str) -> Wing | None:
        return next((one for one in places.tree(self._store) if one.name == name), None)

    def room(self, wing: str, name: str) -> Room | None:
        found = self.wing(wing)
        return next((one for one in found.rooms if one.name == name), None) if found else None

    def unknown_names(self, filter: Scope) -> tuple[Notice, ...]:
        """Notices for a wing or a room that the palace does not have."""
        return unknown_names(self._store, filter)

    # Authorized forms -----------------------------------------------------------------------------

    def authorized(self, auth: AuthContext) -> RecallService:
        """This service, if the context may read; Unauthorized otherwise."""
        auth.require(READ)
        return self

    def search_authorized(self, query: str, auth: AuthContext, **options: Any) -> SearchResult:
        return self.authorized(auth).search(query, **options)

    def get_by_id_authorized(self, ident: str, auth: AuthContext) -> Drawer | None:
        return self.authorized(auth).get_by_id(ident)

    @property
    def _store(self) -> Store:
        if self.index is None:
            raise OperationFailed("No index is configured.", help="Give the service a store.")
        return self.index

    @property
    def _seconds(self) -> float | None:
        return self.timeout_ms / 1000 or None
