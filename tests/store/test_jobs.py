"""Jobs: who may have one, what waits only once, and what each act does to it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from palace.store import jobs
from palace.store.connection import Store

NOW = 1_000_000


def test_a_queued_job_is_taken_once(store: Store) -> None:
    queued = jobs.queue_embed(store, NOW)
    taken = jobs.take(store, "one", NOW)
    assert taken is not None
    assert (taken.id, taken.status, taken.owner) == (queued.id, "running", "one")
    assert jobs.take(store, "two", NOW) is None


def test_of_many_workers_one_gets_it(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda number: jobs.take(store, f"w{number}", NOW), range(8)))
    assert sum(job is not None for job in taken) == 1


def test_a_hundred_calls_leave_one_waiting(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    running = jobs.take(store, "one", NOW)
    idents = {jobs.queue_embed(store, NOW + n).id for n in range(100)}
    assert len(idents) == 1
    assert running is not None
    assert running.id not in idents
    assert sorted(job.status for job in jobs.latest(store)) == ["queued", "running"]


def test_other_parameters_are_another_job(store: Store) -> None:
    plain = jobs.queue_embed(store, NOW)
    wing = jobs.queue_embed(store, NOW, {"wing": "atlas"})
    assert plain.id != wing.id
    assert jobs.queue_embed(store, NOW, {"wing": "atlas"}).id == wing.id


def test_a_lost_owner_loses_the_job_after_its_lease(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    first = jobs.take(store, "one", NOW)
    assert first is not None
    assert jobs.take(store, "two", NOW + jobs.LEASE) is None
    second = jobs.take(store, "two", NOW + jobs.LEASE + 1)
    assert second is not None
    assert second.owner == "two"
    assert jobs.heartbeat(store, first, NOW, {}) == "lost"
    jobs.finish(store, first, "completed", NOW, {})
    assert jobs.latest(store)[0].status == "running"


def test_a_heartbeat_prolongs_the_lease_and_keeps_the_progress(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    job = jobs.take(store, "one", NOW)
    assert job is not None
    assert jobs.heartbeat(store, job, NOW + 5, {"stored": 3}) == "running"
    kept = jobs.get(store, job.id)
    assert kept is not None
    assert (kept.lease_until, kept.progress) == (NOW + 5 + jobs.LEASE, {"stored": 3})


def test_pause_is_seen_by_the_owner_and_resume_waits_for_it(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    job = jobs.take(store, "one", NOW)
    assert job is not None
    paused = jobs.pause(store, job.id, NOW)
    assert paused is not None
    assert paused.status == "paused"
    assert jobs.heartbeat(store, job, NOW, {}) == "paused"
    jobs.resume(store, job.id, NOW)
    assert jobs.take(store, "two", NOW) is None, "its owner is still at a batch"
    jobs.finish(store, job, "paused", NOW, {})
    again = jobs.take(store, "two", NOW)
    assert again is not None
    assert again.id == job.id


def test_a_paused_job_is_not_passed_by_a_new_one(store: Store) -> None:
    job = jobs.queue_embed(store, NOW)
    jobs.pause(store, job.id, NOW)
    assert jobs.queue_embed(store, NOW).id == job.id
    assert jobs.take(store, "one", NOW) is None


def test_cancel_ends_it_whatever_its_owner_says(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    job = jobs.take(store, "one", NOW)
    assert job is not None
    jobs.cancel(store, job.id, NOW)
    jobs.finish(store, job, "completed", NOW, {"stored": 1})
    over = jobs.get(store, job.id)
    assert over is not None
    assert (over.status, over.is_over, over.owner) == ("cancelled", True, None)
    assert jobs.resume(store, job.id, NOW) == over


def test_retry_queues_a_finished_job_with_its_failures(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    job = jobs.take(store, "one", NOW)
    assert job is not None
    jobs.finish(store, job, "failed", NOW, {}, "The provider is down.")
    assert jobs.latest(store)[0].error == "The provider is down."
    queued = jobs.retry(store, job.id, NOW)
    assert queued is not None
    assert (queued.status, queued.parameters, queued.error) == (
        "queued",
        {"retry_failed": True},
        None,
    )


def test_a_new_process_takes_over_what_a_killed_one_had(store: Store) -> None:
    jobs.queue_embed(store, NOW)
    assert jobs.take(store, "old-1", NOW) is not None
    jobs.release(store, "new", NOW)
    assert jobs.take(store, "new-1", NOW) is not None
    jobs.release(store, "new", NOW)
    assert jobs.take(store, "new-2", NOW) is None, "its own are left alone"


def test_only_so_many_finished_jobs_are_kept(store: Store) -> None:
    for number in range(jobs.KEPT + 3):
        jobs.queue_embed(store, NOW + number)
        job = jobs.take(store, "one", NOW + number)
        assert job is not None
        jobs.finish(store, job, "completed", NOW + number, {})
    left = jobs.latest(store, 1_000)
    assert len(left) == jobs.KEPT
    assert left[0].created_at == NOW + jobs.KEPT + 2
    assert replace(left[0], owner=None) == left[0]
