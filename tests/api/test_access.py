"""Who may call what, and how a refusal reads."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

WRITES = [
    ("/api/wings", {"name": "w"}),
    ("/api/wings/w/rooms", {"name": "r"}),
    ("/api/wings/w/rooms/r/drawers", {"content": "x"}),
    ("/api/drawers/x/supersede", {"content": "x"}),
]


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.mark.parametrize(("path", "body"), WRITES)
def test_a_write_needs_an_account(client: Client, path: str, body: Any) -> None:
    refused = client.post(path, body, content_type="application/json")
    assert code(refused) == (401, "memcastle::auth::unauthorized")


@pytest.mark.parametrize(("path", "body"), WRITES)
def test_a_write_needs_the_permission(reader: Client, path: str, body: Any) -> None:
    refused = reader.post(path, body, content_type="application/json")
    assert code(refused) == (403, "memcastle::auth::forbidden")


def test_who_may_not_write_learns_nothing_of_the_body(client: Client) -> None:
    refused = client.post("/api/wings", "{", content_type="application/json")
    assert refused.status_code == 401


@pytest.mark.parametrize("path", ["/api/search?q=x", "/api/wings", "/api/status", "/api/config"])
def test_reading_is_closed_beyond_this_machine(client: Client, settings: Any, path: str) -> None:
    settings.MEMCASTLE_BIND = "0.0.0.0:8000"
    assert code(client.get(path)) == (401, "memcastle::auth::unauthorized")


def test_an_account_reads_when_login_is_required(reader: Client, settings: Any) -> None:
    settings.MEMCASTLE_REQUIRE_LOGIN = True
    assert reader.get("/api/wings").status_code == 200


def test_a_session_without_its_token_writes_nothing(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_user("curator", is_staff=True))
    refused = client.post("/api/wings", {"name": "w"}, content_type="application/json")
    assert code(refused) == (403, "memcastle::auth::csrf")
    client.get("/admin/password_change/")
    token = client.cookies["csrftoken"].value
    headers = {"X-CSRFToken": token}
    done = client.post(
        "/api/wings", {"name": "w"}, content_type="application/json", headers=headers
    )
    assert done.status_code == 201


def test_a_search_by_body_needs_no_account(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    found = client.post("/api/search", {"text": "x"}, content_type="application/json")
    assert found.status_code == 200


def test_a_form_is_no_body(staff: Client) -> None:
    refused = staff.post("/api/wings", {"name": "w"})
    assert code(refused) == (400, "memcastle::input::invalid")


def test_a_body_beyond_the_limit_is_refused_as_json(staff: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = {"content": "x" * 2000}
    refused = staff.post("/api/wings/w/rooms/r/drawers", body, content_type="application/json")
    assert code(refused) == (413, "memcastle::input::invalid")


@pytest.mark.parametrize(
    ("mode", "reads", "writes"),
    [("full", 200, 201), ("read_only", 200, 403), ("disabled", 403, 403)],
)
def test_the_mode_narrows(staff: Client, mode: str, reads: int, writes: int) -> None:
    headers = {"X-MemCastle-Mode": mode}
    read = staff.get("/api/wings", headers=headers)
    search = staff.post(
        "/api/search", {"text": "x"}, content_type="application/json", headers=headers
    )
    wrote = staff.post(
        "/api/wings", {"name": "w"}, content_type="application/json", headers=headers
    )
    assert (read.status_code, search.status_code, wrote.status_code) == (reads, reads, writes)
    if writes == 403:
        assert wrote.json()["code"] == "memcastle::app::mode_forbidden"


def test_a_header_never_widens_the_mode(staff: Client, settings: Any) -> None:
    settings.MEMCASTLE_MODE = "read_only"
    wrote = staff.post(
        "/api/wings",
        {"name": "w"},
        content_type="application/json",
        headers={"X-MemCastle-Mode": "full"},
    )
    assert code(wrote) == (403, "memcastle::app::mode_forbidden")


def test_an_unknown_mode_is_refused(client: Client) -> None:
    refused = client.get("/api/wings", headers={"X-MemCastle-Mode": "half"})
    assert code(refused) == (400, "memcastle::input::invalid")


def test_no_route_is_json(client: Client) -> None:
    assert code(client.get("/api/nothing/here")) == (404, "memcastle::app::not_found")


def test_a_wrong_method_is_json_and_names_the_right_ones(client: Client) -> None:
    refused = client.delete("/api/wings")
    assert code(refused) == (405, "memcastle::app::method_not_allowed")
    assert refused.headers["Allow"] == "GET, POST"


def test_head_answers_like_get_without_a_body(client: Client) -> None:
    response = client.head("/api/wings")
    assert (response.status_code, response.content) == (200, b"")


def test_what_fails_unforeseen_says_nothing_of_the_inside(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **named: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr("palace.recall.RecallService.palace", fail)
    failed = client.get("/api/wings")
    assert code(failed) == (500, "memcastle::app::failed")
    assert "inside" not in failed.content.decode()
