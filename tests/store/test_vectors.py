"""Search by meaning against brute force: the same ids in the same order, at every scope."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from palace.curation import CurationService
from palace.domain.embedding import check_vector, pack
from palace.domain.errors import InvalidInput, PalaceError
from palace.domain.query import Scope
from palace.domain.records import Drawer, content_hash
from palace.domain.results import SearchMode
from palace.domain.time import Temporal
from palace.embedding.provider import ProviderFailed
from palace.recall import RecallService
from palace.store import drawers, vectors
from palace.store.connection import Address, Store
from palace.store.resident import LISTENERS, resident
from palace.store.rows import drawer_ref, stored
from palace.store.vectors import Question
from tests.oracle import Question as Asked
from tests.oracle import answer

NOW = 10_000
MODEL = "test"


def vector(chance: random.Random) -> np.ndarray:
    return check_vector([chance.gauss(0, 1) for _ in range(768)])


def embed(store: Store, drawer: str, passages: list[np.ndarray], model: str = MODEL) -> None:
    """Store vectors as the embed job does, and tell those who keep them."""
    rows = [
        {
            "drawer": drawer_ref(drawer),
            "passage": place,
            "start": place * 5,
            "end": place * 5 + 5,
            "vector": pack(one),
            "model": model,
            "text_hash": "x",
            "embedded_at": stored(NOW),
        }
        for place, one in enumerate(passages)
    ]

    def tell(_: object) -> None:
        for listener in store.caches.get(LISTENERS, ()):
            listener([drawer])

    store.write(
        "{ DELETE embedding WHERE drawer = $drawer RETURN NONE;"
        " INSERT INTO embedding $rows RETURN NONE }",
        after=tell,
        drawer=drawer_ref(drawer),
        rows=rows,
    )


def make(number: int, **given: object) -> Drawer:
    content = f"memory {number} of the tide"
    fields: dict[str, object] = {
        "id": f"d{number:04d}",
        "wing": f"w{number % 3}",
        "room": f"r{number % 4}",
        "content": content,
        "content_hash": content_hash(content),
        "valid_from": 100 + number % 7,
        "valid_to": 5_000 + number if number % 5 == 0 else None,
        "closed_at": 6_000 if number % 5 == 0 else None,
        "created_at": 200,
        "tags": ("even",) if number % 2 == 0 else (),
        "source": {"kind": "note"},
    }
    return Drawer(**(fields | given))  # type: ignore[arg-type]


class Planted:
    """Drawers with one to three passages each, and the same in plain lists."""

    def __init__(self, store: Store, number: int) -> None:
        self.store, self.chance = store, random.Random(3)
        self.rows: list[Drawer] = []
        self.passages: dict[str, list[np.ndarray]] = {}
        for place in range(number):
            self.add(make(place))

    def add(self, drawer: Drawer) -> None:
        drawers.file(self.store, drawer)
        self.rows.append(drawer)
        if self.chance.random() < 0.9:
            self.embed(drawer.id)

    def embed(self, drawer: str) -> None:
        self.passages[drawer] = [vector(self.chance) for _ in range(self.chance.randint(1, 3))]
        embed(self.store, drawer, self.passages[drawer])

    def nearest(self, asked: Asked, query: np.ndarray, limit: int) -> list[str]:
        """Brute force over all rows, in plain Python."""
        inside = [one.id for one in answer(self.rows, asked) if one.id in self.passages]
        best = {one: max(float(part @ query) for part in self.passages[one]) for one in inside}
        return sorted(inside, key=lambda one: (-best[one], one))[:limit]


@pytest.fixture(scope="module")
def planted() -> Iterator[Planted]:
    store = Store(Address("mem://"))
    yield Planted(store, 120)
    store.close()


SCOPES = [
    {},
    {"wing": "w1"},
    {"wing": "w1", "room": "r2"},
    {"tags": ("even",)},
    {"wing": "w2", "tags": ("even",)},
    {"wing": "nowhere"},
]


@pytest.mark.parametrize("use_chronology", [True, False])
@pytest.mark.parametrize("place", SCOPES, ids=str)
@pytest.mark.parametrize("at", [50, 103, 5_010, NOW])
def test_the_nearest_are_those_of_brute_force(planted, place, at, use_chronology):
    query = vector(random.Random(at))
    asked, scope = Asked(**place, at=at), Scope(Temporal.as_of(at), **place)
    question = Question(query, MODEL, 7, use_chronology=use_chronology)
    found = vectors.nearest(planted.store, scope, question)
    assert [one.id for one in found] == planted.nearest(asked, query, 7)
    assert all(-1.001 <= one.similarity <= 1.001 for one in found)


def test_a_page_is_full_though_all_nearer_ones_lie_outside(planted):
    """Filter before limit: the nearest hundred belong to other wings."""
    store = Store(Address("mem://"))
    query = vector(random.Random(1))
    world = Planted(store, 0)
    for number in range(250):
        inside = number % 25 == 0
        drawer = make(number, wing="in" if inside else "out", valid_to=None, closed_at=None)
        drawers.file(store, drawer)
        world.rows.append(drawer)
        near = check_vector((query + (0 if not inside else 1) * vector(world.chance)).tolist())
        world.passages[drawer.id] = [near]
        embed(store, drawer.id, [near])
    scope = Scope(Temporal.as_of(NOW), wing="in")
    found = vectors.nearest(store, scope, Question(query, MODEL, 10, use_chronology=False))
    assert [one.id for one in found] == world.nearest(Asked(wing="in", at=NOW), query, 10)
    assert len(found) == 10
    store.close()


def test_it_follows_supersession_new_vectors_and_a_reopening(tmp_path):
    address = Address(f"surrealkv://{tmp_path}/palace")
    store = Store(address)
    world = Planted(store, 40)
    query = vector(random.Random(9))
    scope = Scope(Temporal.as_of(NOW))
    asked = Asked(at=NOW)
    question = Question(query, MODEL, 10)
    assert [one.id for one in vectors.nearest(store, scope, question)] == world.nearest(
        asked, query, 10
    )
    for ident in ("d0003", "d0004"):
        world.embed(ident)
    CurationService(store, lambda: NOW).invalidate("d0001")
    world.rows = [one for one in world.rows if one.id != "d0001"]
    world.add(make(500, valid_to=None, closed_at=None))
    expected = world.nearest(asked, query, 10)
    assert [one.id for one in vectors.nearest(store, scope, question)] == expected
    store.close()
    again = Store(address)
    assert [one.id for one in vectors.nearest(again, scope, question)] == expected
    again.close()


def test_two_models_are_never_mixed(planted):
    query = vector(random.Random(2))
    embed(planted.store, "d0002", [query], model="other")
    scope = Scope(Temporal.history())
    found = vectors.nearest(planted.store, scope, Question(query, "other", 5))
    assert [one.id for one in found] == ["d0002"]
    assert "d0002" not in [
        one.id for one in vectors.nearest(planted.store, scope, Question(query, MODEL, 200))
    ]
    planted.embed("d0002")


def test_vectors_above_the_memory_allowed_are_refused():
    store = Store(Address("mem://"))
    drawers.file(store, make(0))
    embed(store, "d0000", [vector(random.Random(one)) for one in range(330)])
    with pytest.raises(PalaceError) as told:
        resident(store, 1)  # 330 vectors are 1.01 MB
    assert told.value.code == "memcastle::search::resident_limit"
    assert "MEMCASTLE_RESIDENT_MAX_MB" in told.value.help
    assert resident(store, 2).embedded(MODEL) == 1
    store.close()


def test_the_worked_example_of_fusion():
    """A only by words, B in both, C in both, D only by meaning: k = 60, ranks from 1."""
    store = Store(Address("mem://"))
    fused = dict(vectors.fuse(store, ["a", "b", "c"], ["b", "c", "d"]))
    assert list(fused) == ["b", "c", "a", "d"]
    expected = {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 63 + 1 / 62, "d": 1 / 63}
    assert fused == pytest.approx(expected, abs=1e-9)
    swapped = dict(vectors.fuse(store, ["b", "c", "d"], ["a", "b", "c"]))
    assert swapped == pytest.approx(expected, abs=1e-9)
    assert vectors.fuse(store, [], []) == []
    store.close()


class Broken:
    """A provider that is down."""

    model, native_dimension = "broken", None

    def embed(self, texts, *, kind, timeout=None):
        raise ProviderFailed("The provider is down.")

    def close(self) -> None:
        pass


class Fixed(Broken):
    """A provider that always answers the same vector."""

    model = MODEL

    def embed(self, texts, *, kind, timeout=None):
        return [vector(random.Random(4)) for _ in texts]


@pytest.mark.parametrize(
    ("ranking", "provider", "degrade", "used"),
    [
        ("auto", None, False, "lexical"),
        ("auto", Broken, False, "lexical"),
        ("auto", Fixed, False, "hybrid"),
        ("lexical", Broken, False, "lexical"),
        ("semantic", None, False, "memcastle::search::semantic_unavailable"),
        ("hybrid", None, False, "memcastle::search::semantic_unavailable"),
        ("semantic", Broken, False, "memcastle::embed::failed"),
        ("hybrid", Broken, False, "memcastle::embed::failed"),
        ("semantic", Fixed, False, "semantic"),
        ("hybrid", Fixed, False, "hybrid"),
        ("semantic", None, True, "semantic"),
        ("semantic", Broken, True, "semantic"),
        ("hybrid", None, True, "lexical"),
        ("hybrid", Broken, True, "lexical"),
        ("hybrid", Fixed, True, "hybrid"),
    ],
)
def test_promises_are_kept_or_refused_and_degradation_is_told(
    planted, ranking, provider, degrade, used
):
    service = RecallService(planted.store, embedder=provider() if provider else None)
    scope = Scope(Temporal.as_of(NOW))
    ask = {"ranking": SearchMode(ranking), "filter": scope, "degrade": degrade}
    if used.startswith("memcastle::"):
        with pytest.raises(PalaceError) as refused:
            service.search("tide", **ask)
        assert refused.value.code == used
        return
    found = service.search("tide", **ask)
    assert found.ranking == used
    fell_short = (provider is Broken and ranking != "lexical") or (provider is None and degrade)
    codes = {one.code for one in found.notices}
    failures = {"memcastle::embed::failed", "memcastle::search::semantic_unavailable"}
    assert bool(codes & failures) == fell_short
    if ranking == "semantic" and fell_short:
        assert found.hits == ()


def test_a_callers_vector_needs_no_provider_but_a_model(planted):
    service, scope = RecallService(planted.store), Scope(Temporal.as_of(NOW))
    mine = vector(random.Random(5)).tolist()
    found = service.search(
        "tide",
        filter=scope,
        ranking=SearchMode.SEMANTIC,
        query_embedding=mine,
        embedding_model=MODEL,
        limit=5,
    )
    expected = planted.nearest(Asked(at=NOW), check_vector(mine), 5)
    assert [hit.drawer.id for hit in found.hits] == expected
    assert all(hit.signals["semantic"]["passage"] for hit in found.hits)
    with pytest.raises(InvalidInput):
        service.search("tide", filter=scope, query_embedding=[1.0, 2.0], embedding_model=MODEL)


def test_hybrid_pages_are_the_whole_and_hold_nothing_from_outside(planted):
    service = RecallService(planted.store, embedder=Fixed())
    scope = Scope(Temporal.as_of(NOW), wing="w1", asked_at=NOW)
    whole = service.search("tide", filter=scope, limit=200)
    seen, cursor = [], None
    while True:
        page = service.search("tide", filter=scope, limit=7, cursor=cursor)
        seen += [hit.drawer.id for hit in page.hits]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [hit.drawer.id for hit in whole.hits]
    inside = {one.id for one in answer(planted.rows, Asked(wing="w1", at=NOW))}
    assert set(seen) <= inside
    assert whole.total is None
