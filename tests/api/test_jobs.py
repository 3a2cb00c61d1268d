"""Jobs and callers' vectors over the API: queued, watched, acted on, refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from palace import opening, serving
from palace.embedding import service
from palace.embedding.hashing import HashingProvider
from palace.serving import Served
from palace.store import embeddings, jobs
from tests.api.conftest import File, Send

VECTOR = [1.0] + [0.0] * 767


@pytest.fixture(autouse=True)
def provider(monkeypatch: Any) -> Iterator[HashingProvider]:
    hashing = HashingProvider()
    monkeypatch.setattr(opening, "embedder", lambda: hashing)
    store = opening.store()
    for table in ("job", "embedding", "embedding_model"):
        store.write(f"DELETE {table}")
    yield hashing
    service.close(store)


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def ended(client: Client, ident: str) -> dict[str, Any]:
    for _ in range(200):
        job: dict[str, Any] = client.get(f"/api/jobs/{ident}").json()
        if job["status"] in jobs.FINAL:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_a_queued_job_is_run_and_told(client: Client, post: Send, file: File) -> None:
    file("one"), file("two")
    queued = post("/api/jobs", {"type": "embed"})
    assert queued.status_code == 200
    job = ended(client, queued.json()["id"])
    assert (job["status"], job["progress"]["stored"]) == ("completed", 2)
    listed = client.get("/api/jobs").json()["jobs"]
    assert [one["id"] for one in listed] == [job["id"]]
    assert client.get("/api/jobs?status=queued").json()["jobs"] == []


def test_a_dry_run_queues_nothing(client: Client, post: Send, file: File) -> None:
    file("four")
    told = post("/api/jobs", {"type": "embed", "dry_run": True}).json()
    assert told["plan"] == {"drawers": 1, "blank": 0, "passages": 1, "characters": 4}
    assert client.get("/api/jobs").json()["jobs"] == []


def test_acts_on_a_job(post: Send) -> None:
    job = jobs.queue_embed(opening.store(), 1)
    assert post(f"/api/jobs/{job.id}/pause", {}).json()["status"] == "paused"
    assert code(post(f"/api/jobs/{job.id}/retry", {})) == (409, "memcastle::job::not_possible")
    assert post(f"/api/jobs/{job.id}/cancel", {}).json()["status"] == "cancelled"
    assert code(post(f"/api/jobs/{job.id}/resume", {})) == (409, "memcastle::job::not_possible")
    assert post(f"/api/jobs/{job.id}/retry", {}).status_code == 200
    assert code(post(f"/api/jobs/{job.id}/burn", {})) == (404, "memcastle::app::not_found")


@pytest.mark.parametrize("body", [{"type": "tidy"}, {"type": "embed", "limit": 0}, {}])
def test_other_jobs_are_refused(post: Send, body: Any) -> None:
    assert code(post("/api/jobs", body)) == (400, "memcastle::input::invalid")


def test_an_unknown_job_and_status_are_told(client: Client) -> None:
    assert code(client.get("/api/jobs/nothing")) == (404, "memcastle::job::not_found")
    assert code(client.get("/api/jobs?status=odd")) == (400, "memcastle::input::invalid")


def test_without_a_provider_there_is_no_job(post: Send, monkeypatch: Any) -> None:
    monkeypatch.setattr(opening, "embedder", lambda: None)
    refused = post("/api/jobs", {"type": "embed"})
    assert code(refused) == (400, "memcastle::embed::not_configured")


def test_queueing_needs_the_permission_or_this_servers_token(
    client: Client, reader: Client, monkeypatch: Any
) -> None:
    body = {"type": "embed"}
    for who, status in ((client, 401), (reader, 403)):
        assert who.post("/api/jobs", body, content_type="application/json").status_code == status
    monkeypatch.setattr(serving, "_mine", Served("http://127.0.0.1:1", 1, "secret"))
    for token, status in (("wrong", 401), ("secret", 200)):
        headers = {"Authorization": f"Bearer {token}"}
        answer = client.post("/api/jobs", body, content_type="application/json", headers=headers)
        assert answer.status_code == status


def put(client: Client, ident: str, body: Any) -> Any:
    return client.put(f"/api/drawers/{ident}/embedding", body, content_type="application/json")


def test_a_callers_vector_needs_no_provider(staff: Client, file: File, monkeypatch: Any) -> None:
    monkeypatch.setattr(opening, "embedder", lambda: None)
    drawer = file("some text")
    answer = put(staff, drawer.id, {"embedding": VECTOR}).json()
    assert (answer["model"], answer["passages"]) == (
        "caller",
        [{"passage": 0, "start": 0, "end": 9}],
    )
    assert embeddings.without_vector(opening.store(), "any") == []
    assert put(staff, drawer.id, {"embedding": VECTOR, "model": "mine"}).json()["model"] == "mine"


def test_a_callers_vector_outlives_a_job_but_not_a_new_beginning(
    client: Client, staff: Client, post: Send, file: File
) -> None:
    put(staff, file("some text").id, {"embedding": VECTOR})
    assert (
        ended(client, post("/api/jobs", {"type": "embed"}).json()["id"])["progress"]["total"] == 0
    )
    job = post("/api/jobs", {"type": "embed", "reembed": True}).json()
    assert job["parameters"]["reembed"].endswith("Z")
    assert ended(client, job["id"])["progress"]["stored"] == 1


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        (VECTOR[:-1], "memcastle::embed::dimension_mismatch"),
        ([0.0] * 768, "memcastle::input::invalid"),
        ([True] * 768, "memcastle::input::invalid"),
        (["1"] * 768, "memcastle::input::invalid"),
    ],
)
def test_what_is_no_vector_is_refused(
    staff: Client, file: File, vector: Any, expected: str
) -> None:
    assert code(put(staff, file("text").id, {"embedding": vector})) == (400, expected)


def test_a_vector_needs_its_drawer_and_the_permission(
    staff: Client, reader: Client, file: File
) -> None:
    assert put(staff, "nothing", {"embedding": VECTOR}).status_code == 404
    assert put(reader, file("text").id, {"embedding": VECTOR}).status_code == 403
