"""Runs queued embed jobs: in one background thread of a server, or at once for a command."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from palace.domain.errors import PalaceError
from palace.domain.records import new_id
from palace.embedding.provider import EmbedSettings, Provider
from palace.embedding.report import EmbedOptions, EmbedReport
from palace.embedding.worker import GO_ON, Clock, run_embed
from palace.store import jobs
from palace.store.connection import Store
from palace.store.jobs import Job

logger = logging.getLogger(__name__)

PROCESS = f"{os.getpid()}-{new_id()}"
CLOSING = "closing"
BEAT = 1.0  # seconds between two looks at the job's record
_SERVICE = "embed_service"
_making = threading.Lock()

Told = Callable[[EmbedReport], None]


@dataclass
class Worker:
    """Takes jobs and runs them, one after the other."""

    store: Store
    provider: Provider
    settings: EmbedSettings
    clock: Clock
    told: Told = lambda report: None
    beat: float = BEAT
    owner: str = field(default_factory=lambda: f"{PROCESS}-{new_id()}")
    closing: threading.Event = field(default_factory=threading.Event)

    def run_next(self) -> Job | None:
        """Run the oldest job that waits; the job as it ended, None when none waits."""
        job = jobs.take(self.store, self.owner, self.clock())
        if job is None:
            return None
        seen = EmbedReport()
        try:
            options = self._options(job)
            seen.failures = dict(options.failures)
            beats = _Beats(self, job, seen)
            report = run_embed(self.store, self.provider, options, self.clock, beats)
        except PalaceError as error:
            self._fail(job, seen, f"{error.message} {error.help}".strip())
        except Exception:
            self._fail(job, seen, "The embed job failed unexpectedly; the server's log says more.")
            raise
        else:
            self._end(job, report)
        return jobs.get(self.store, job.id)

    def _options(self, job: Job) -> EmbedOptions:
        failures = known_failures(self.store, self.provider.model)
        return EmbedOptions.of(self.settings, job.parameters, failures)

    def _fail(self, job: Job, seen: EmbedReport, error: str) -> None:
        # A provider that is shut down with the server has not failed.
        status = "queued" if self.closing.is_set() else "failed"
        self._finish(job, status, seen, None if status == "queued" else error)

    def _end(self, job: Job, report: EmbedReport) -> None:
        if report.stopped:
            self._finish(job, "queued", report, None)
        elif report.refused:
            error = f"{report.stored:,} drawers were embedded, {report.refused:,} were refused."
            self._finish(job, "failed", report, error)
        else:
            self._finish(job, "completed", report, None)

    def _finish(self, job: Job, status: str, report: EmbedReport, error: str | None) -> None:
        progress = report.as_json()
        jobs.finish(self.store, job, status, self.clock(), progress, error)


class _Beats:
    """Keeps a job's record alive and looks there for a pause or a cancel, once a second."""

    def __init__(self, worker: Worker, job: Job, seen: EmbedReport) -> None:
        self.worker = worker
        self.job = job
        self.seen = seen
        self.last = float("-inf")

    def __call__(self, report: EmbedReport) -> str:
        self.seen.__dict__.update(report.__dict__)
        self.worker.told(report)
        if self.worker.closing.is_set():
            return CLOSING
        if time.monotonic() - self.last < self.worker.beat:
            return GO_ON
        self.last = time.monotonic()
        now = self.worker.clock()
        return jobs.heartbeat(self.worker.store, self.job, now, report.as_json())


def known_failures(store: Store, model: str) -> dict[str, str]:
    """Drawers that the model refused, from the newest job that tells."""
    for job in jobs.latest(store, jobs.KEPT):
        if job.progress.get("model") == model:
            return dict(job.progress.get("failures") or {})
    return {}


class EmbedService:
    """The background thread of a process. It sleeps while nothing waits."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        worker.told = lambda report: self._queue_wanted()
        self._wanted = threading.Event()  # somebody wrote drawers: a job is to be queued
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._work, name="embed", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def wake(self, *, queue: bool = True) -> None:
        """Look for work; never waits, so that it may be called while a write is under way."""
        if queue:
            self._wanted.set()
        self._woken.set()

    def close(self, timeout: float = 5.0) -> None:
        """Stop after the batch at hand; what was not done is queued."""
        self.worker.closing.set()
        self._woken.set()
        self._thread.join(timeout)

    def _work(self) -> None:
        try:
            jobs.release(self.worker.store, PROCESS, self.worker.clock())
            while not self.worker.closing.is_set():
                self._woken.wait()
                self._woken.clear()
                self._run_all()
        except PalaceError as error:
            if self.worker.store.is_open:
                logger.error("The embed thread ended: %s", error.message)

    def _run_all(self) -> None:
        while not self.worker.closing.is_set():
            self._queue_wanted()
            try:
                if self.worker.run_next() is None:
                    return
            except PalaceError:
                raise
            except Exception:
                logger.exception("An embed job failed.")

    def _queue_wanted(self) -> None:
        if self._wanted.is_set():
            self._wanted.clear()
            jobs.queue_embed(self.worker.store, self.worker.clock())


def wake(
    store: Store,
    provider: Provider | None,
    settings: EmbedSettings,
    clock: Clock,
    *,
    queue: bool = True,
) -> EmbedService | None:
    """Start the store's embed thread if need be and let it look for work.

    Nothing happens without a provider.
    """
    if provider is None:
        return None
    with _making:
        service: EmbedService | None = store.caches.get(_SERVICE)
        # Its thread ends when the store fails: who asks next starts another one.
        if service is None or not service.is_alive or service.worker.provider is not provider:
            if service is not None:
                service.close(0)
            service = EmbedService(Worker(store, provider, settings, clock))
            store.caches[_SERVICE] = service
    service.wake(queue=queue)
    return service


def close(store: Store) -> None:
    """Stop the store's embed thread: before the provider and the store are closed."""
    service: EmbedService | None = store.caches.pop(_SERVICE, None)
    if service is not None:
        service.close()
