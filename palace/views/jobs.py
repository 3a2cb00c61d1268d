"""Jobs: how far embedding is, what was refused, and the acts on it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from palace import opening
from palace.access import auth_context
from palace.curation import WRITE
from palace.embedding import desk
from palace.views.shell import ask, render_page

MOST = 20
ACTS = ("pause", "resume", "cancel", "retry")
_POSSIBLE = {
    "queued": ("pause", "cancel"),
    "running": ("pause", "cancel"),
    "paused": ("resume", "cancel"),
    "failed": ("retry",),
    "cancelled": ("retry",),
}


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """The latest jobs, and per wing how many drawers have a vector."""
    asked = ask(request)
    provider = opening.embedder()
    store = opening.store()
    coverage = desk.coverage(store, provider.model) if provider else {}
    listed = [(job, _POSSIBLE.get(job.status, ())) for job in desk.listed(store, MOST)]
    context = {
        "provider": provider,
        "coverage": sorted(coverage.items()),
        "embedded": sum(done for done, _ in coverage.values()),
        "of": sum(total for _, total in coverage.values()),
        "jobs": listed,
        "may_act": WRITE in auth_context(request).permissions,
    }
    return render_page(request, "palace/jobs.html", asked, context)


@require_POST
def queue(request: HttpRequest) -> HttpResponse:
    """Queue an embed job."""
    auth_context(request).require(WRITE)
    desk.needed(opening.embedder())
    desk.submit(opening.store(), {}, opening.clock())
    opening.wake_embedding(opening.store())
    return HttpResponseRedirect(reverse("jobs"))


@require_POST
def act(request: HttpRequest, job: str, name: str) -> HttpResponse:
    """Pause, resume, cancel or retry a job."""
    auth_context(request).require(WRITE)
    if name not in ACTS:
        raise Http404(f"Jobs know {', '.join(ACTS)}.")
    desk.act(opening.store(), job, name, opening.clock())
    opening.wake_embedding(opening.store())
    return HttpResponseRedirect(reverse("jobs"))
