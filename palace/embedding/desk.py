"""What people and programs ask of embedding: jobs, their acts, a vector of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from palace.domain.embedding import check_vector
from palace.domain.errors import Conflict, InvalidInput, NotFound
from palace.domain.records import Drawer, check_text
from palace.embedding.batches import Plan, plan
from palace.embedding.provider import EmbedSettings, NotConfigured, Provider
from palace.embedding.report import EmbedOptions, checked_parameters
from palace.embedding.service import known_failures
from palace.store import embeddings, jobs
from palace.store.connection import Store
from palace.store.embeddings import CALLER, PassageRow
from palace.store.jobs import Job

_ACTS: dict[str, tuple[Callable[[Store, str, int], Job | None], tuple[str, ...], str]] = {
    "pause": (jobs.pause, ("paused",), "Only a job that waits or runs can be paused."),
    "resume": (jobs.resume, ("queued", "running"), "Only a paused job can be resumed."),
    "cancel": (jobs.cancel, ("cancelled",), "The job is over."),
    "retry": (jobs.retry, ("queued", "running"), "Only a job that is over can be tried again."),
}
ACTS = tuple(_ACTS)


def needed(provider: Provider | None) -> Provider:
    """The provider, or the error that says how to get one."""
    if provider is None:
        raise NotConfigured(
            "No embedding provider is set.",
            help="Set MEMCASTLE_EMBED_PROVIDER to command or http; docs/embedding.md tells more.",
        )
    return provider


def submit(store: Store, asked: Mapping[str, Any], now: int) -> Job:
    """Queue an embed job: the one that waits for the same already, or a new one.

    ``reembed=True`` becomes the instant since when vectors count, so that such a job can go on.
    """
    parameters = _parameters(asked, now)
    job = jobs.queue_embed(store, now, parameters)
    if job.status == "paused":  # who asks for it wants it to run
        job = jobs.resume(store, job.id, now) or job
    return job


def would_do(
    store: Store, provider: Provider, settings: EmbedSettings, asked: Mapping[str, Any], now: int
) -> Plan:
    """Count what such a job would embed."""
    failures = known_failures(store, provider.model)
    options = EmbedOptions.of(settings, _parameters(asked, now), failures)
    return plan(store, provider.model, options)


def _parameters(asked: Mapping[str, Any], now: int) -> dict[str, Any]:
    given = {name: one for name, one in asked.items() if one is not None and one is not False}
    if given.get("reembed") is True:
        given["reembed"] = now
    return checked_parameters(given)


def job_of(store: Store, ident: str) -> Job:
    """The job of an id, or a 404."""
    job = jobs.get(store, check_text("id", ident))
    if job is None:
        raise NotFound(
            f"There is no job “{ident[:200]}”.",
            code="memcastle::job::not_found",
            help="List the jobs; the oldest finished ones are forgotten.",
        )
    return job


def listed(store: Store, limit: int, status: str | None = None) -> list[Job]:
    """Jobs, newest first."""
    if status is not None and status not in jobs.STATUSES:
        raise InvalidInput(
            f"“{status[:80]}” is no status of a job.", help=f"One of {', '.join(jobs.STATUSES)}."
        )
    return jobs.latest(store, limit, status=status)


def act(store: Store, ident: str, name: str, now: int) -> Job:
    """Pause, resume, cancel or retry a job; Conflict when it is not in the state for that."""
    before = job_of(store, ident)
    change, results, refusal = _ACTS[name]
    after = change(store, before.id, now) or before
    if after.status not in results:
        raise Conflict(
            f"The job is {after.status}. {refusal}",
            code="memcastle::job::not_possible",
            help="Look at the job as it is now.",
        )
    return after


def put_vector(
    store: Store, drawer: Drawer, values: object, model: str | None, now: int
) -> PassageRow:
    """Keep a caller's vector of a whole drawer. Only embedding all anew replaces it."""
    vector = check_vector(values)
    name = check_text("model", model, 200) if model is not None else CALLER
    row = PassageRow(drawer.id, 0, 0, len(drawer.content), vector, name, CALLER, now)
    embeddings.write_passages(store, [row])
    return row


def coverage(store: Store, model: str) -> dict[str, tuple[int, int]]:
    """``wing -> (embedded, all)`` drawers."""
    return embeddings.coverage(store, model)
