"""The JSON API under `/api/`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from palace.api import about, drawers, errors, jobs, places, search
from palace.api.access import reading
from palace.api.docs import RouteList
from palace.api.imports import import_view
from palace.api.serial import Utf8Renderer
from palace.domain.errors import PalaceError
from palace.paths import register

register()

api = NinjaAPI(
    title="Palace explorer",
    version=about.version(),
    description="Memory as of any instant, over the same calls as the pages.",
    urls_namespace="palace-api",
    auth=reading,
    docs=RouteList(),
    renderer=Utf8Renderer(),
)
errors.install(api)
for part in (about, search, places, drawers, jobs):
    api.add_router("", part.router)


def home(request: HttpRequest) -> HttpResponse:
    """`/api/` leads to the list of routes."""
    return redirect("palace-api:openapi-view")


@csrf_exempt
def no_route(request: HttpRequest, rest: str) -> HttpResponse:
    """JSON for addresses that name no route."""
    return errors.error_response(errors.no_route(request.path))


def _answering(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A route that takes HEAD for GET, and refuses other methods as JSON."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        method = request.method
        if method == "HEAD":
            request.method = "GET"
        response = view(request, *args, **named)
        request.method = method  # whoever sends the answer leaves the body out
        return _refused(response) if response.status_code == 405 else response

    return answer


def _refused(response: HttpResponseBase) -> HttpResponse:
    allowed = ", ".join(sorted(response.headers.get("Allow", "").split(", ")))
    error = PalaceError(
        "This route does not take that method.",
        code="memcastle::app::method_not_allowed",
        help=f"It takes {allowed}.",
        status=405,
    )
    answer = errors.error_response(error)
    answer.headers["Allow"] = allowed
    return answer


def _wrapped(pattern: Any) -> URLPattern:
    view = home if pattern.name == "api-root" else _answering(pattern.callback)
    return URLPattern(pattern.pattern, view, name=pattern.name)


_routes, _app, _namespace = api.urls
urlpatterns = [
    path("import", _answering(import_view), name="api-import"),
    path("", ([_wrapped(one) for one in _routes], _app, _namespace)),
    re_path("^(?P<rest>.+)$", no_route),
]
