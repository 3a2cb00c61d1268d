"""Calls made up from the OpenAPI description: whatever comes, nothing fails inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from palace import opening
from palace.store import jobs

EXAMPLES = 20
# What no made-up body or bare settings can fulfil: a vector of 768 numbers, and a provider.
BEYOND = {
    "/api/drawers/{ident}/embedding",
    "/api/jobs/{job}/resume",
    "/api/jobs/{job}/retry",
}


def operations() -> Iterator[Any]:
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())
    return (found.ok() for found in schema.get_all_operations())


@pytest.mark.parametrize("kept", [True, False], ids=["valid", "any"])
def test_no_call_fails_inside(staff: Client, file: Any, kept: bool) -> None:
    drawer = file("# Lanterns\nSeven of them.", name="lanterns", tags=["sea"])
    job = jobs.queue_embed(opening.store(), 1)
    real = {"ident": drawer.id, "wing": "atlas", "room": "design", "name": "lanterns"}
    real["job"] = job.id
    cookies = {"sessionid": staff.cookies["sessionid"].value, "csrftoken": "a" * 32}
    headers = {"X-CSRFToken": "a" * 32, "Accept-Encoding": "identity"}
    called = set()
    for operation in operations():

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), at_home=st.just(kept))
        def call(case: Any, at_home: bool) -> None:
            if at_home:
                case.path_parameters = {name: real[name] for name in case.path_parameters or {}}
            response = case.call(cookies=cookies, headers=headers)
            called.add((case.method, case.path, response.status_code))
            assert response.status_code < 500, f"{case.as_curl_command()}\n{response.text}"
            if response.status_code >= 400:
                assert set(response.json()) >= {"error", "code", "help"}

        call()
    assert len({(method, path) for method, path, _ in called}) >= 20
    if kept:
        assert {path for _, path, status in called if status < 300} == {
            path for _, path, _ in called if path not in BEYOND
        }
