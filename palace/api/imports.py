"""POST /api/import: rows of JSON lines from a command, into the palace this server holds."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from palace import handover, opening, serving
from palace.access import refuse_by_mode
from palace.domain.errors import InvalidInput, PalaceError, Unauthorized
from palace.sources.jsonl import readable_twice
from palace.sources.planning import Options


@csrf_exempt  # it takes a token of this very process instead of a session
@require_http_methods(["GET", "POST"])
def import_view(request: HttpRequest) -> HttpResponseBase:
    """GET: what was mined before. POST: file the rows of the body, answering progress as lines."""
    refuse_by_mode(request, writes=request.method == "POST")
    token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    if not serving.is_own_token(token):
        raise Unauthorized(
            "The token is not the one of this server.",
            code="memcastle::auth::unauthorized",
            help="Take it from server.json in the data directory of the running server.",
            status=401,
        )
    if request.method == "GET":
        return _state(request)
    if not request.META.get("CONTENT_LENGTH"):
        raise InvalidInput(
            "The request tells no length.", help="Send Content-Length, not chunks.", status=411
        )
    options = Options(
        now=opening.clock(),
        rewrite=request.GET.get("rewrite") == "1",
        strict=request.GET.get("strict") == "1",
        dry_run=request.GET.get("dry_run") == "1",
    )
    cleanup = ExitStack()
    read = cleanup.enter_context(readable_twice(_Body(request)))  # type: ignore[arg-type]
    response = StreamingHttpResponse(
        _answers(read, options, cleanup), content_type="application/x-ndjson"
    )
    response["X-Accel-Buffering"] = "no"
    return response


class _Body:
    """The request's body as a stream, read in pieces whatever its length."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def read(self, size: int = 65_536) -> bytes:
        return self._request.read(size)


def _answers(read: Any, options: Options, cleanup: ExitStack) -> Iterator[str]:
    """Progress while a thread imports; then the report, or the error."""
    told: queue.Queue[dict[str, Any]] = queue.Queue()

    def work() -> None:
        try:
            report = handover.Target(None).file(
                read, options, lambda number: told.put({"progress": number})
            )
            told.put({"report": report.as_json()})
        except PalaceError as error:
            told.put({"error": error.message, "code": error.code, "help": error.help})
        except Exception:
            told.put({"error": "The import failed.", "code": "memcastle::app::failed", "help": ""})
            raise

    with cleanup:
        thread = threading.Thread(target=work, name="import")
        thread.start()
        while True:
            answer = told.get()
            yield json.dumps(answer) + "\n"
            if "progress" not in answer:
                break
        thread.join()


def _state(request: HttpRequest) -> JsonResponse:
    asked = request.GET
    state = handover.mined_state(
        asked.get("wing", ""), asked.get("project", ""), asked.get("branch")
    )
    return JsonResponse({"commit": state.commit, "files": state.files})
