"""The embed run: resumable, copying what is known, never blocked by one text, one job a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from palace.domain.embedding import Vector, check_vector
from palace.embedding import service
from palace.embedding.batches import plan
from palace.embedding.hashing import HashingProvider
from palace.embedding.provider import EmbedSettings, Kind, ProviderFailed, TextRefused
from palace.embedding.report import EmbedOptions, EmbedReport
from palace.embedding.service import Worker, known_failures
from palace.embedding.worker import ModelChanged, run_embed
from palace.store import drawers, embeddings, jobs
from palace.store.connection import Store
from tests.conftest import MakeDrawer

POISON = "poison"
_ticks = count(10_000)


def clock() -> int:
    return next(_ticks)


def go_on(report: EmbedReport) -> str:
    return "running"


class Counting(HashingProvider):
    """Remembers what it was sent; refuses texts with a certain word, saying which or not."""

    def __init__(self, *, tells: bool = True) -> None:
        self.batches: list[list[str]] = []
        self.tells = tells
        self.down = False

    @property
    def sent(self) -> list[str]:
        probe = "The memory of a palace"
        return [text for one in self.batches for text in one if not text.startswith(probe)]

    def embed(
        self, texts: Sequence[str], *, kind: Kind, timeout: float | None = None
    ) -> list[Vector]:
        self.batches.append(list(texts))
        if self.down:
            raise ProviderFailed("The provider is down.")
        bad = [at for at, text in enumerate(texts) if POISON in text]
        if bad:
            raise TextRefused("Not this.", indexes=bad if self.tells else ())
        return super().embed(texts, kind=kind, timeout=timeout)


class Changed(HashingProvider):
    """The same name, other answers."""

    def embed(
        self, texts: Sequence[str], *, kind: Kind, timeout: float | None = None
    ) -> list[Vector]:
        return [check_vector((-one).tolist()) for one in super().embed(texts, kind=kind)]


Fill = Callable[..., None]


@pytest.fixture
def fill(store: Store, make_drawer: MakeDrawer) -> Fill:
    def file(*contents: str, **given: Any) -> None:
        for content in contents:
            drawers.file(store, make_drawer(content=content, **given))

    return file


def rows(store: Store) -> int:
    return len(store.query("SELECT VALUE passage FROM embedding"))


def run(store: Store, provider: HashingProvider, **options: Any) -> EmbedReport:
    return run_embed(store, provider, EmbedOptions(**options), clock, go_on)


def texts(number: int) -> list[str]:
    return [f"text {n} of its own" for n in range(number)]


def test_every_drawer_gets_its_vector_and_a_second_run_sends_nothing(
    store: Store, fill: Fill
) -> None:
    fill(*texts(70))
    provider = Counting()
    report = run(store, provider)
    assert (report.total, report.stored, report.sent, report.copied) == (70, 70, 70, 0)
    assert max(map(len, provider.batches)) == 32
    provider.batches.clear()
    assert run(store, provider).total == 0
    assert provider.batches == []


def test_passages_cover_a_long_drawer_and_off_gives_one_row(store: Store, fill: Fill) -> None:
    fill("A sentence that is repeated with care. " * 100)
    report = run(store, Counting())
    assert report.passages == rows(store) > 3
    report = run(store, Counting(), passages=False, reembed=clock())
    assert report.passages == rows(store) == 1


def test_the_same_text_is_sent_once(store: Store, fill: Fill) -> None:
    fill("the same", "the same", "another", room="a")
    fill("the same", room="b")
    report = run(store, Counting())
    assert (report.stored, report.sent, report.copied) == (3, 2, 1)
    fill("the same", room="c")
    report = run(store, Counting())
    assert (report.stored, report.sent, report.copied) == (1, 0, 1)


@pytest.mark.parametrize("tells", [True, False])
def test_one_bad_text_never_blocks_the_others(store: Store, fill: Fill, tells: bool) -> None:
    fill(*texts(20), POISON, *[f"more {n}" for n in range(20)])
    provider = Counting(tells=tells)
    report = run(store, provider)
    assert (report.stored, report.refused) == (40, 1)
    assert report.failures == {"d0021": "Not this."}
    again = run(store, provider, failures=report.failures)
    assert (again.total, again.skipped, again.failures) == (0, 1, report.failures)
    tried = run(store, provider, failures=report.failures, retry_failed=True)
    assert (tried.total, tried.refused) == (1, 1)


def test_a_drawer_with_a_bad_passage_is_not_stored_in_part(store: Store, fill: Fill) -> None:
    fill("Good sentences come first. " * 60 + POISON + ". " + "And last. " * 60)
    report = run(store, Counting(tells=False))
    assert (report.stored, report.refused, rows(store)) == (0, 1, 0)


def test_a_provider_that_is_down_ends_the_run(store: Store, fill: Fill) -> None:
    fill(*texts(3))
    provider = Counting()
    provider.down = True
    with pytest.raises(ProviderFailed, match="down"):
        run(store, provider)
    assert rows(store) == 0


def test_blank_drawers_are_counted_and_never_sent(store: Store, fill: Fill) -> None:
    fill(" \n\t ", "text")
    provider = Counting()
    report = run(store, provider)
    assert (report.stored, report.blank, report.done) == (1, 1, 2)
    assert provider.sent == ["text"]


def test_a_stop_between_batches_loses_nothing(store: Store, fill: Fill) -> None:
    fill(*texts(100))
    provider = Counting()
    words = iter(["running", "running", "running", "paused"])
    report = run_embed(store, provider, EmbedOptions(), clock, lambda _: next(words))
    assert (report.stopped, report.stored) == ("paused", 64)
    assert run(store, provider).stored == 36
    assert sorted(provider.sent) == sorted(texts(100))


def test_only_a_wing_and_only_so_many(store: Store, fill: Fill) -> None:
    fill(*texts(5))
    fill(*texts(5), wing="other")
    assert run(store, Counting(), wing="other", limit=2).stored == 2
    assert embeddings.coverage(store, Counting.model) == {"atlas": (0, 5), "other": (2, 5)}


def test_a_plan_counts_without_asking(store: Store, fill: Fill) -> None:
    fill("four", " ", "sixsix")
    counted = plan(store, "m", EmbedOptions())
    assert (counted.drawers, counted.blank, counted.passages, counted.characters) == (3, 1, 2, 10)


def test_another_model_under_the_same_name_is_refused(store: Store, fill: Fill) -> None:
    fill(*texts(2))
    run(store, HashingProvider())
    fill("a third")
    with pytest.raises(ModelChanged) as told:
        run(store, Changed())
    assert told.value.code == "memcastle::embed::model_changed"
    with pytest.raises(ModelChanged):
        run(store, Changed(), reembed=clock(), limit=1)
    assert run(store, Changed(), reembed=clock()).stored == 3
    fill("a fourth")
    assert run(store, Changed()).stored == 1


def test_reembedding_goes_on_where_it_stopped_and_takes_callers_vectors(
    store: Store, fill: Fill
) -> None:
    fill(*texts(40))
    run(store, Counting())
    since = clock()
    words = iter(["running", "running", "cancelled"])
    options = EmbedOptions(reembed=since)
    first = run_embed(store, Counting(), options, clock, lambda _: next(words))
    assert first.stored == 32
    assert run(store, Counting(), reembed=since).stored == 8


def worker(store: Store, provider: HashingProvider, **given: Any) -> Worker:
    return Worker(store, provider, EmbedSettings(), clock, beat=0, **given)


def test_a_job_tells_its_end(store: Store, fill: Fill) -> None:
    fill("good", POISON)
    provider = Counting()
    jobs.queue_embed(store, clock())
    done = worker(store, provider).run_next()
    assert done is not None
    assert done.status == "failed"
    assert done.error == "1 drawers were embedded, 1 were refused."
    assert known_failures(store, provider.model) == {"d0002": "Not this."}
    jobs.queue_embed(store, clock())
    second = worker(store, provider).run_next()
    assert second is not None
    assert (second.status, second.progress["skipped"]) == ("completed", 1)
    assert known_failures(store, provider.model) == {"d0002": "Not this."}


def test_a_job_of_a_provider_that_is_down_fails_with_the_reason(store: Store, fill: Fill) -> None:
    fill("good")
    provider = Counting()
    provider.down = True
    jobs.queue_embed(store, clock())
    done = worker(store, provider).run_next()
    assert done is not None
    assert done.status == "failed"
    assert "The provider is down." in str(done.error)


@pytest.mark.parametrize(("act", "status"), [("pause", "paused"), ("cancel", "cancelled")])
def test_acts_are_seen_between_batches(store: Store, fill: Fill, act: str, status: str) -> None:
    fill(*texts(100))
    provider = Counting()
    job = jobs.queue_embed(store, clock())

    def told(report: EmbedReport) -> None:
        if report.stored == 32:
            getattr(jobs, act)(store, job.id, clock())

    done = worker(store, provider, told=told).run_next()
    assert done is not None
    assert (done.status, done.owner, done.progress["stored"]) == (status, None, 32)
    if act == "pause":
        jobs.resume(store, job.id, clock())
        resumed = worker(store, provider).run_next()
        assert resumed is not None
        assert resumed.status == "completed"
        assert len(provider.sent) == 100


def test_two_workers_never_do_the_same(store: Store, fill: Fill) -> None:
    fill(*texts(100))
    provider = Counting()
    jobs.queue_embed(store, clock())
    workers = [worker(store, provider) for _ in range(3)]
    threads = [threading.Thread(target=one.run_next) for one in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(provider.sent) == sorted(texts(100))


class Held(Counting):
    """Waits in its first batch until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.go = threading.Event()

    def embed(
        self, texts: Sequence[str], *, kind: Kind, timeout: float | None = None
    ) -> list[Vector]:
        self.begun.set()
        assert self.go.wait(20)
        return super().embed(texts, kind=kind, timeout=timeout)


@pytest.fixture
def held(store: Store) -> Iterator[Held]:
    provider = Held()
    yield provider
    provider.go.set()
    service.close(store)


def test_the_thread_embeds_what_is_written_while_it_works(
    store: Store, fill: Fill, held: Held
) -> None:
    fill("first")
    service.wake(store, held, EmbedSettings(), clock)
    assert held.begun.wait(20)
    for number in range(100):
        fill(f"later {number}")  # at once, though the provider hangs
        service.wake(store, held, EmbedSettings(), clock)
    held.go.set()
    until(lambda: not embeddings.without_vector(store, held.model))
    until(lambda: all(job.is_over for job in jobs.latest(store)))
    assert len(jobs.latest(store)) == 2, "a hundred writes were one job"
    assert len(held.sent) == 101


def test_a_thread_that_ended_is_started_again(store: Store, fill: Fill, held: Held) -> None:
    held.go.set()
    first = service.wake(store, held, EmbedSettings(), clock)
    assert first is not None
    first.close()
    fill("text")
    assert service.wake(store, held, EmbedSettings(), clock) is not first
    until(lambda: not embeddings.without_vector(store, held.model))


def test_without_a_provider_nothing_is_queued(store: Store) -> None:
    assert service.wake(store, None, EmbedSettings(), clock) is None
    assert jobs.latest(store) == []


def until(holds: Callable[[], bool]) -> None:
    for _ in range(400):
        if holds():
            return
        threading.Event().wait(0.05)
    raise AssertionError("It did not come about within 20 seconds.")
