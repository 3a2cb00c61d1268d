"""Durable jobs: one record each, taken by a conditional update, so that one worker has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from surrealdb import RecordID

from palace.domain.records import new_id
from palace.domain.time import SECOND
from palace.store.connection import Store
from palace.store.rows import stored

EMBED = "embed"
FINAL = ("completed", "failed", "cancelled")
STATUSES = ("queued", "running", "paused", *FINAL)
LEASE = 600 * SECOND  # beyond the longest call of a provider with all its repeats
KEPT = 50

_FIELDS = """
record::id(id) AS id, kind, status, parameters, progress, error, owner,
(IF lease_until IS NONE THEN NONE ELSE time::micros(lease_until) END) AS lease_until,
time::micros(created_at) AS created_at, time::micros(updated_at) AS updated_at
"""


@dataclass(frozen=True)
class Job:
    """A piece of work, who has it and until when, and how far it is."""

    id: str
    kind: str
    status: str
    created_at: int
    updated_at: int
    parameters: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    owner: str | None = None
    lease_until: int | None = None

    @property
    def is_over(self) -> bool:
        return self.status in FINAL


_QUEUE = """
{
    LET $waiting = (SELECT VALUE record::id(id) FROM job WHERE kind = $kind
        AND status IN ['queued', 'paused'] AND parameters = $parameters LIMIT 1);
    IF array::len($waiting) > 0 { RETURN $waiting[0] };
    CREATE ONLY $id CONTENT { kind: $kind, status: 'queued', parameters: $parameters,
        progress: {}, created_at: $now, updated_at: $now } RETURN NONE;
    RETURN record::id($id);
}
"""


def queue_embed(store: Store, now: int, parameters: Mapping[str, Any] | None = None) -> Job:
    """The job that waits for the same work, or a new one. A paused job stays paused."""
    ident = store.write(
        _QUEUE,
        id=_ref(new_id()),
        kind=EMBED,
        parameters=dict(parameters or {}),
        now=stored(now),
    )
    return _there(store, ident)


# The owner of a job that was stopped keeps it until its last batch has ended.
_TAKE = """
{
    LET $free = (SELECT id, created_at FROM job WHERE kind = $kind
        AND ((status = 'queued' AND owner IS NONE)
            OR (status IN ['queued', 'running'] AND lease_until < $now))
        ORDER BY created_at, id LIMIT 1);
    IF array::len($free) = 0 { RETURN NONE };
    UPDATE ONLY $free[0].id SET status = 'running', owner = $owner, lease_until = $until,
        error = NONE, updated_at = $now RETURN NONE;
    RETURN record::id($free[0].id);
}
"""


def take(store: Store, owner: str, now: int) -> Job | None:
    """The oldest job that waits, or whose owner was lost; it is the caller's now."""
    until = stored(now + LEASE)
    ident = store.write(_TAKE, kind=EMBED, owner=owner, now=stored(now), until=until)
    return None if ident is None else _there(store, ident)


_HEARTBEAT = """
{
    UPDATE $id SET lease_until = $until, progress = $progress, updated_at = $now
        WHERE owner = $owner AND status = 'running' RETURN NONE;
    RETURN (SELECT VALUE [status, owner] FROM ONLY $id);
}
"""


def heartbeat(store: Store, job: Job, now: int, progress: Mapping[str, Any]) -> str:
    """Tell how far it is and keep it; the status, which is `lost` when another one has it."""
    row = store.write(
        _HEARTBEAT,
        id=_ref(job.id),
        owner=job.owner,
        now=stored(now),
        until=stored(now + LEASE),
        progress=dict(progress),
    )
    return str(row[0]) if row and row[1] == job.owner else "lost"


# What was paused, cancelled or queued again meanwhile keeps that status: only its owner goes.
_FINISH = """
{
    UPDATE $id SET status = IF status = 'running' { $status } ELSE { status },
        progress = $progress, error = $error, owner = NONE, lease_until = NONE,
        updated_at = $now WHERE owner = $owner RETURN NONE;
}
"""
_OLD = """
SELECT id, created_at FROM job WHERE kind = $kind AND status IN $final
ORDER BY created_at DESC, id DESC START $kept
"""


def finish(
    store: Store,
    job: Job,
    status: str,
    now: int,
    progress: Mapping[str, Any],
    error: str | None = None,
) -> None:
    """Give a job back with its result; the oldest finished ones are forgotten."""
    store.write(
        _FINISH,
        id=_ref(job.id),
        owner=job.owner,
        status=status,
        now=stored(now),
        progress=dict(progress),
        error=error,
    )
    old = [row["id"] for row in store.query(_OLD, kind=job.kind, final=FINAL, kept=KEPT)]
    if old:
        store.write("{ DELETE $old RETURN NONE }", old=old)


_MOVE = "{ UPDATE $id SET status = $to, updated_at = $now WHERE status IN $froms RETURN NONE }"
_RETRY = """
{
    UPDATE $id SET status = 'queued', error = NONE, updated_at = $now,
        parameters = object::extend(parameters, { retry_failed: true })
        WHERE status IN $final RETURN NONE;
}
"""


def pause(store: Store, ident: str, now: int) -> Job | None:
    """Stop a job until it is resumed; a running one after its batch."""
    return _move(store, ident, now, ["queued", "running"], "paused")


def resume(store: Store, ident: str, now: int) -> Job | None:
    """Let a paused job wait for a worker again."""
    return _move(store, ident, now, ["paused"], "queued")


def cancel(store: Store, ident: str, now: int) -> Job | None:
    """End a job; what it has stored stays."""
    return _move(store, ident, now, ["queued", "running", "paused"], "cancelled")


def retry(store: Store, ident: str, now: int) -> Job | None:
    """Queue a finished job again, with the drawers that failed."""
    store.write(_RETRY, id=_ref(ident), final=FINAL, now=stored(now))
    return get(store, ident)


def _move(store: Store, ident: str, now: int, froms: list[str], to: str) -> Job | None:
    store.write(_MOVE, id=_ref(ident), froms=froms, to=to, now=stored(now))
    return get(store, ident)


def release(store: Store, own: str, now: int) -> None:
    """Take jobs from owners of other processes: an embedded store has one process at a time."""
    if not store.address.is_server:
        store.write(_RELEASE, own=own, now=stored(now))


_RELEASE = """
{
    UPDATE job SET status = IF status = 'running' { 'queued' } ELSE { status }, owner = NONE,
        lease_until = NONE, updated_at = $now
        WHERE owner IS NOT NONE AND !string::starts_with(owner, $own) RETURN NONE;
}
"""


def get(store: Store, ident: str) -> Job | None:
    """The job of an id."""
    rows = store.query(f"SELECT {_FIELDS} FROM $ids", ids=[_ref(ident)])
    return Job(**rows[0]) if rows else None


def latest(store: Store, limit: int = 20, *, status: str | None = None) -> list[Job]:
    """Jobs, newest first."""
    sql = f"""SELECT {_FIELDS} FROM job WHERE $status IS NONE OR status = $status
        ORDER BY created_at DESC, id DESC LIMIT $limit"""
    return [Job(**row) for row in store.query(sql, status=status, limit=limit)]


def _there(store: Store, ident: str) -> Job:
    job = get(store, ident)
    assert job is not None
    return job


def _ref(ident: str) -> RecordID:
    return RecordID("job", ident)
