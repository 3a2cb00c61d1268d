"""The palace as of an instant: wings, rooms, what is newest."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from palace.render.snippets import rows
from palace.views.shell import ask, render_page, service

NEWEST = 8


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Wings as cards, and the newest memories of the asked time."""
    asked = ask(request)
    reads = service(request)
    found = reads.list_all_with_content(asked.scope, NEWEST, preview=True)
    told = replace(asked, notices=asked.notices + found.notices)
    context = {
        "rows": rows(found.hits, asked.scope.time, asked.now),
        "total": found.total,
    }
    return render_page(request, "palace/overview.html", told, context)
