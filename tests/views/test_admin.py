"""Curators' pages: finding, superseding, ending."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.test import Client

from palace import opening
from palace.domain.records import Drawer
from palace.domain.time import parse_instant
from palace.forms import with_endings_of

File = Callable[..., Drawer]


def form_of(client: Client, ident: str, act: str = "supersede") -> dict[str, Any]:
    """What the form sends back untouched, as a browser sends it."""
    form = client.get(f"/admin/palace/drawer/{ident}/{act}/").context["form"]
    data = {name: form.get_initial_for_field(form.fields[name], name) for name in form.fields}
    return {name: "" if value is None else value for name, value in data.items()}


def browser(text: str) -> str:
    """A text field's submission: every line ending is CRLF."""
    return re.sub(r"\r\n|\r|\n", "\r\n", text)


def send(client: Client, ident: str, act: str = "supersede", **changes: Any) -> Any:
    data = form_of(client, ident, act) | {"reason": "a letter came"} | changes
    if "content" in data:
        data["content"] = browser(data["content"])
    return client.post(f"/admin/palace/drawer/{ident}/{act}/", data)


def chain(ident: str) -> tuple[Drawer, ...]:
    return opening.recall().chain(ident, content=True).versions


@pytest.fixture
def old(file: File) -> Drawer:
    return file("\n# Tides\r\nOne.\r\n", name="tide-source", tags=("sea",))


def test_the_list_finds_drawers(admin_client: Client, file: File) -> None:
    tides, _ = file("The tides come in"), file("Berth seven")
    newest = admin_client.get("/admin/palace/drawer/").content.decode()
    assert len(re.findall("data-id", newest)) == 2
    found = admin_client.get("/admin/palace/drawer/?q=tides").content.decode()
    assert re.findall(r'data-id="(\w+)"', found) == [tides.id]


def test_a_bad_cursor_is_told(admin_client: Client, old: Drawer) -> None:
    response = admin_client.get("/admin/palace/drawer/?cursor=nonsense")
    assert response.status_code == 400
    assert "errornote" in response.content.decode()


def test_superseding_works(admin_client: Client, old: Drawer) -> None:
    response = send(admin_client, old.id, content="\n# Tides\nTwo.\n", tags="sea, clock")
    first, second = chain(old.id)
    assert response.status_code == 302
    assert response.url == f"/drawers/{second.id}/"
    assert (first.content, first.valid_to) == (old.content, second.valid_from)
    assert (second.content, second.tags) == ("\n# Tides\r\nTwo.\r\n", ("sea", "clock"))
    assert (first.close_reason, second.name) == ("a letter came", "tide-source")
    assert second.provenance["requested_by"] == "admin"


def test_a_success_is_logged_and_told(admin_client: Client, old: Drawer) -> None:
    response = admin_client.get(send(admin_client, old.id, tags="clock").url)
    assert "The new version stands." in response.content.decode()
    entry = LogEntry.objects.get()
    assert entry.object_id == old.id
    assert "a letter came" in entry.change_message
    assert entry.get_admin_url() == f"/admin/palace/drawer/{old.id}/change/"
    assert admin_client.get(entry.get_admin_url()).url == f"/drawers/{old.id}/"


def test_a_save_without_a_change_is_refused(admin_client: Client, old: Drawer) -> None:
    response = send(admin_client, old.id)
    assert "Nothing was changed" in response.content.decode()
    assert len(chain(old.id)) == 1


def test_a_reason_is_required(admin_client: Client, old: Drawer) -> None:
    response = send(admin_client, old.id, content="new", reason="")
    assert response.context["form"].errors["reason"]
    assert len(chain(old.id)) == 1


def test_an_instant_may_be_given(admin_client: Client, old: Drawer) -> None:
    send(admin_client, old.id, content="new", at="2026-04-01T10:00:00+02:00")
    assert chain(old.id)[1].valid_from == parse_instant("2026-04-01T08:00:00Z")


@pytest.mark.parametrize("at", ["yesterday", "2026-03-01", "2999-01-01", "2026-04-01T10:00"])
def test_a_wrong_instant_is_told_beside_its_field(
    admin_client: Client, old: Drawer, at: str
) -> None:
    response = send(admin_client, old.id, content="typed text", at=at)
    assert response.context["form"].errors["at"]
    assert "typed text" in response.content.decode()
    assert len(chain(old.id)) == 1


def test_who_comes_second_loses_nothing(admin_client: Client, old: Drawer) -> None:
    data = form_of(admin_client, old.id) | {"content": "mine, typed", "reason": "r"}
    first = opening.curation().supersede(old.id, "theirs").drawer
    response = admin_client.post(f"/admin/palace/drawer/{old.id}/supersede/", data)
    html = response.content.decode()
    assert response.status_code == 409
    assert "Somebody was first" in html
    assert "mine, typed" in html
    assert f'formaction="/admin/palace/drawer/{first.id}/supersede/"' in html
    assert len(chain(old.id)) == 2


def test_a_typed_text_can_be_taken_to_the_version_that_stands(
    admin_client: Client, old: Drawer
) -> None:
    first = opening.curation().supersede(old.id, "theirs", tags=("sea", "clock")).drawer
    data = {"content": "mine, typed", "reason": "r", "tags": "sea, berth"}
    data |= {"seen": "1", "carry": "1"}
    response = admin_client.post(f"/admin/palace/drawer/{first.id}/supersede/", data)
    assert response.context["form"]["content"].value() == "mine, typed"
    assert response.context["form"]["tags"].value() == "sea, clock, berth"
    assert response.context["form"]["seen"].value() == opening.recall().updated_at(first.id)
    assert len(chain(old.id)) == 2


def test_a_stale_form_is_refused(admin_client: Client, old: Drawer) -> None:
    response = send(admin_client, old.id, content="mine, typed", seen=1)
    assert response.status_code == 409
    assert "was changed since you opened the form" in response.content.decode()


def test_ending_works(admin_client: Client, old: Drawer) -> None:
    response = send(admin_client, old.id, "invalidate", reason="found out")
    assert response.url == f"/drawers/{old.id}/"
    (ended,) = chain(old.id)
    assert ended.valid_to is not None
    assert ended.close_reason == "found out"
    again = admin_client.get(f"/admin/palace/drawer/{old.id}/invalidate/").content.decode()
    assert "This drawer has ended" in again
    assert "<textarea" not in again


def test_ended_drawers_cannot_be_superseded(admin_client: Client, old: Drawer) -> None:
    data = form_of(admin_client, old.id) | {"content": "mine, typed", "reason": "r"}
    opening.curation().invalidate(old.id)
    response = admin_client.post(f"/admin/palace/drawer/{old.id}/supersede/", data)
    assert response.status_code == 409
    assert "mine, typed" in response.content.decode()


def test_an_unknown_drawer_is_a_404(admin_client: Client) -> None:
    assert admin_client.get("/admin/palace/drawer/nowhere/supersede/").status_code == 404


@pytest.mark.parametrize("act", ["", "x/supersede/", "x/invalidate/", "x/change/"])
def test_only_staff_come_in(client: Client, act: str) -> None:
    client.force_login(User.objects.create_user("reader"))
    assert client.get(f"/admin/palace/drawer/{act}").url.startswith("/admin/login/")


def test_staff_need_no_further_permission(client: Client, old: Drawer) -> None:
    client.force_login(User.objects.create_user("curator", is_staff=True))
    assert "Drawers" in client.get("/admin/").content.decode()
    assert send(client, old.id, content="new").status_code == 302


def test_a_narrowed_mode_forbids_the_write(admin_client: Client, old: Drawer) -> None:
    data = form_of(admin_client, old.id) | {"content": "new", "reason": "r"}
    address = f"/admin/palace/drawer/{old.id}/supersede/"
    response = admin_client.post(address, data, headers={"X-MemCastle-Mode": "read_only"})
    assert response.status_code == 403
    assert len(chain(old.id)) == 1


def test_a_post_needs_its_token(old: Drawer) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("chief"))
    data = {"content": "new", "reason": "r", "tags": "", "seen": "1"}
    assert strict.post(f"/admin/palace/drawer/{old.id}/supersede/", data).status_code == 403


def test_there_is_nothing_to_add_or_delete(admin_client: Client) -> None:
    assert admin_client.get("/admin/palace/drawer/add/").status_code == 404
    kinds = ContentType.objects.filter(app_label="palace").values_list("model", flat=True)
    assert list(kinds) == ["drawer"]


@pytest.mark.parametrize(
    ("old", "typed", "expected"),
    [
        ("a\nb", "a\r\nc", "a\nc"),
        ("a\r\nb", "a\r\nc\r\nd", "a\r\nc\r\nd"),
        ("a\rb", "a\r\nc", "a\rc"),
        ("one line", "one\r\ntwo", "one\ntwo"),
        ("a\nb\r\nc\rd\n", "a\r\nb\r\nX\r\nc\r\nd\r\n", "a\nb\r\nX\nc\rd\n"),
    ],
)
def test_line_endings_stay_as_they_were(old: str, typed: str, expected: str) -> None:
    assert with_endings_of(old, typed) == expected


@pytest.mark.parametrize("text", ["", "a", "\n\na\r\n\r\n", "\ra\n\r\nb\r\r", "a\r\n\nb\n"])
def test_an_untouched_text_comes_back_as_it_was(text: str) -> None:
    assert with_endings_of(text, browser(text)) == text
