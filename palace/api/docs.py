"""The page of routes: a plain list, readable without scripts and without other hosts."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


class RouteList(DocsBase):
    """Renders the OpenAPI description as an ordinary page."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        schema = api.get_openapi_schema()
        context = {"groups": grouped(schema), "openapi_url": self.get_openapi_url(api, kwargs)}
        return render(request, "palace/api_docs.html", context)


def grouped(schema: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The operations of an OpenAPI description by their first tag, in order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            route = {"method": method.upper(), "path": path, **operation}
            route["fields"] = _fields(schema, operation)
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(route)
    return list(groups.items())


def _fields(schema: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    """The names of a JSON body's fields."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return list(schema["components"]["schemas"].get(name, {}).get("properties", {}))
