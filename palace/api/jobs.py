"""Embed jobs, what can be done to them, and a caller's own vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from ninja import Router
from pydantic import StrictFloat, StrictInt

from palace import opening, serving
from palace.access import refuse_by_mode
from palace.api.access import SessionAccess, writing
from palace.api.asking import described, now_of, read, service
from palace.api.bodies import Body
from palace.api.drawers import found_drawer
from palace.api.errors import invalid
from palace.api.serial import Json, instant, notices_json
from palace.curation import WRITE
from palace.domain.results import AuthContext
from palace.embedding import desk
from palace.embedding import service as background
from palace.recall import READ
from palace.recall_paging import clamp_limit

router = Router(tags=["jobs"])
LIMIT = 20


class NewJob(Body):
    """A job to queue; ``dry_run`` only counts what it would do."""

    type: str
    wing: str | None = None
    limit: int | None = None
    reembed: bool = False
    retry_failed: bool = False
    dry_run: bool = False


class NewVector(Body):
    """A vector of a whole drawer, made elsewhere."""

    embedding: list[StrictFloat | StrictInt]
    model: str | None = None


class CommandAccess(SessionAccess):
    """A session, or the token of this very process that its commands read from a file."""

    def __call__(self, request: HttpRequest) -> AuthContext:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer" and serving.is_own_token(token.strip()):
            refuse_by_mode(request, writes=self.permission != READ)
            return AuthContext("command", frozenset({READ, WRITE}))
        return super().__call__(request)


seeing = CommandAccess(READ)
acting = CommandAccess(WRITE)


@router.get("/jobs", auth=seeing, openapi_extra=described("limit"), operation_id="jobs")
def listed(request: HttpRequest, status: str | None = None) -> Json:
    """Jobs, newest first; of one `status` if that is given."""
    asked = read(request, also=("status",), limit=LIMIT)
    limit, clamped = clamp_limit(asked.limit)
    found = desk.listed(opening.store(), limit, status)
    return {
        "jobs": [job_json(job) for job in found],
        "notices": notices_json((*asked.notices, *clamped)),
    }


@router.get("/jobs/{job}", auth=seeing, openapi_extra=described(), operation_id="job")
def one(request: HttpRequest, job: str) -> Json:
    """A job with its progress: counts, and the drawers that were refused with their errors."""
    return job_json(desk.job_of(opening.store(), job))


@router.post("/jobs", auth=acting, openapi_extra=described(), operation_id="queue_job")
def queue(request: HttpRequest, body: NewJob) -> Json:
    """Queue an embed job; one that waits for the same is not queued twice."""
    if body.type != "embed":
        raise invalid("type", f"There is no job “{body.type[:80]}”.", "Send embed.")
    asked = body.model_dump(include={"wing", "limit", "reembed", "retry_failed"})
    store, provider = opening.store(), desk.needed(opening.embedder())
    told = notices_json(body.notices())
    if body.dry_run:
        settings = opening.embed_settings()
        counted = desk.would_do(store, provider, settings, asked, now_of(request))
        return {"plan": vars(counted), "model": provider.model, "notices": told}
    job = desk.submit(store, asked, now_of(request))
    _wake()
    return {**job_json(job), "notices": told}


def _acting(name: str) -> Callable[[HttpRequest, str], Json]:
    def act(request: HttpRequest, job: str) -> Json:
        if name in ("resume", "retry"):
            desk.needed(opening.embedder())
        changed = desk.act(opening.store(), job, name, now_of(request))
        _wake()
        return job_json(changed)

    return act


for _name in desk.ACTS:
    router.post(
        f"/jobs/{{job}}/{_name}",
        auth=acting,
        openapi_extra=described(),
        operation_id=f"{_name}_job",
        summary=f"{_name.capitalize()} a job",
    )(_acting(_name))


@router.put(
    "/drawers/{name:ident}/embedding",
    auth=writing,
    openapi_extra=described(),
    operation_id="put_embedding",
)
def put_embedding(request: HttpRequest, ident: str, body: NewVector) -> Json:
    """Keep a vector of 768 numbers for a whole drawer; no provider is needed."""
    drawer = found_drawer(service(request), ident)
    row = desk.put_vector(opening.store(), drawer, body.embedding, body.model, now_of(request))
    return {
        "drawer": row.drawer,
        "model": row.model,
        "passages": [{"passage": row.passage, "start": row.start, "end": row.end}],
        "embedded_at": instant(row.embedded_at),
        "notices": notices_json(body.notices()),
    }


def _wake() -> None:
    settings, provider = opening.embed_settings(), opening.embedder()
    background.wake(opening.store(), provider, settings, opening.clock, queue=False)


def job_json(job: Any) -> Json:
    """A job as JSON; the parameter of a re-embedding as an instant."""
    parameters = dict(job.parameters)
    if "reembed" in parameters:
        parameters["reembed"] = instant(parameters["reembed"])
    return {
        "id": job.id,
        "type": job.kind,
        "status": job.status,
        "parameters": parameters,
        "progress": job.progress,
        "error": job.error,
        "created_at": instant(job.created_at),
        "updated_at": instant(job.updated_at),
    }
