"""Health, status, settings, the time line, the list of routes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from palace import opening
from palace.api.about import without_user


def test_health_answers_without_opening_the_store(client: Client) -> None:
    opening.close_stores()
    response = client.get("/api/health")
    assert response.json() == {"status": "ok"}
    assert not opening.store().is_open


def test_status_counts_what_the_palace_holds(client: Client, file: Any, post: Any) -> None:
    drawer = file("one")
    file("two", room="notes", valid_from="2099-01-01")
    post(f"/api/drawers/{drawer.id}/supersede", {"content": "uno"})
    status = client.get("/api/status").json()
    assert status["counts"] == {"wings": 1, "rooms": 2, "drawers": 3, "drawers_now": 1}
    assert status["store"] == {"kind": "mem", "demo": False}
    assert re.fullmatch(r"\d+\.\d+\.\d+", status["version"])


def test_config_shows_settings_and_no_secret(client: Client, settings: Any) -> None:
    settings.MEMCASTLE_PALACE_PASSWORD = "hidden-word"
    answer = client.get("/api/config")
    assert answer.json()["settings"]["MEMCASTLE_PALACE_URL"] == "mem://"
    assert "hidden-word" not in answer.content.decode()
    assert settings.SECRET_KEY not in answer.content.decode()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("wss://root:secret@db.example:8000/rpc", "wss://db.example:8000/rpc"),
        ("surrealkv:///a@b/palace", "surrealkv:///a@b/palace"),
        ("mem://", "mem://"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_user(url) == shown


def test_the_time_line_counts_what_began_and_ended(client: Client, file: Any, post: Any) -> None:
    drawer = file("one", valid_from="2026-03-01")
    file("two", valid_from="2026-03-02T12:00Z")
    body = {"content": "uno", "at": "2026-03-02T06:00:00Z"}
    assert post(f"/api/drawers/{drawer.id}/supersede", body).status_code == 200
    line = client.get("/api/timeline?bucket=day").json()
    days = {row["from"][:10]: row for row in line["buckets"]}
    assert (days["2026-03-01"]["began"], days["2026-03-01"]["ended"]) == (1, 0)
    assert (days["2026-03-02"]["began"], days["2026-03-02"]["ended"]) == (2, 1)
    assert days["2026-03-03"]["valid"] == 2
    assert line["first"] == "2026-03-01T00:00:00.000000Z"
    assert (line["total"], line["valid"]) == (3, 2)


def test_too_fine_buckets_are_widened_and_told(client: Client, file: Any) -> None:
    file("one", valid_from="1990-01-01")
    line = client.get("/api/timeline?bucket=minute").json()
    assert len(line["buckets"]) <= 200
    assert [one["code"] for one in line["notices"]] == ["memcastle::input::clamped"]


def test_an_unknown_bucket_is_refused(client: Client) -> None:
    refused = client.get("/api/timeline?bucket=fortnight")
    assert refused.status_code == 400
    assert refused.json()["parameter"] == "bucket"


def test_the_time_line_of_an_empty_palace_is_empty(client: Client) -> None:
    line = client.get("/api/timeline").json()
    assert (line["first"], line["total"]) == (None, 0)


def test_the_list_of_routes_needs_no_other_host_and_no_script(client: Client) -> None:
    page = client.get("/api/docs")
    html = page.content.decode()
    assert page.status_code == 200
    assert "/api/drawers/{ident}/supersede" in html
    assert "<script" not in html
    assert "style=" not in html
    assert "//cdn" not in html


def test_api_leads_to_the_list_of_routes(client: Client) -> None:
    assert client.get("/api/").headers["Location"] == "/api/docs"


def test_openapi_describes_parameters_and_errors(client: Client) -> None:
    schema = client.get("/api/openapi.json").json()
    search = schema["paths"]["/api/search"]["get"]
    assert {"q", "as_of", "known_at", "tag", "cursor"} <= {
        one["name"] for one in search["parameters"]
    }
    assert "default" in search["responses"]
