"""Whether the palace is open and answers."""

from __future__ import annotations

import time

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from palace import opening
from palace.access import may_read_anonymously


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """200 when a query runs; a told error (503) otherwise."""
    started = time.perf_counter()
    opening.recall().ping()
    answer: dict[str, object] = {
        "status": "ok",
        "answered_in_ms": round((time.perf_counter() - started) * 1000, 1),
        "demo": opening.showing_demo(),
        "mode": settings.MEMCASTLE_MODE,
    }
    if request.user.is_authenticated or may_read_anonymously():
        answer["store"] = opening.store().address.url
    return JsonResponse(answer)
