"""Overview, wings, rooms: what they show, at any instant, whatever the names."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import pytest
from django.urls import reverse

from palace.paths import read_name, write_name

ODD_NAMES = [
    "a/b",
    "100 %",
    "what?",
    "日本 🏯",
    "x" * 300,
    "..",
    "~2F",
    "tab\there",
    "#1 & <b>",
    "é/~/.",
]


def ids(html: str) -> list[str]:
    return re.findall(r'<li class="hit[^"]*" data-id="([^"]+)"', html)


def test_an_empty_palace_teaches_how_to_fill_it(client):
    html = client.get("/").content.decode()
    assert "This palace is empty" in html
    assert "manage.py mine" in html


def test_overview_counts_at_the_instant(client, file):
    file("one", valid_from="2026-01-01")
    file("two", room="ideas", valid_from="2026-02-01")
    assert "2 memories in 1 wing" in client.get("/").content.decode()
    then = client.get("/?as_of=2026-01-15").content.decode()
    assert "1 memory in 1 wing" in then
    assert "As of 15 January 2026" in then
    assert "Back to now" in then


def test_the_past_before_everything_says_when_it_began(client, file):
    file("one", valid_from="2026-01-01")
    html = client.get("/?as_of=2020-01-01").content.decode()
    assert "The first one began on" in html
    assert "as_of=2026-01-01" in html


def test_links_keep_the_instant(client, file):
    drawer = file("one", valid_from="2026-01-01")
    html = client.get("/?as_of=2026-01-15").content.decode()
    assert f"/drawers/{drawer.id}/?as_of=2026-01-15" in html
    assert "/wings/atlas/?as_of=2026-01-15" in html
    assert '<input type="hidden" name="as_of" value="2026-01-15">' in html


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_survive_addresses(client, file, name):
    file("one", wing=name, room=name)
    wing = reverse("wing", args=[name])
    room = reverse("room", args=[name, name])
    assert client.get(wing).status_code == 200
    page = client.get(room)
    assert page.status_code == 200
    assert len(ids(page.content.decode())) == 1
    assert room in client.get("/").content.decode().replace("&amp;", "&")
    slid = client.get(room, {"t": "1700000000", "t_now": "1800000000"})
    assert client.get(slid.headers["Location"]).status_code == 200
    assert slid.headers["Location"] == f"{room}?as_of=2023-11-14T22%3A13%3A20Z"
    assert unquote(quote(write_name(name))) == write_name(name)
    assert read_name(write_name(name)) == name


def test_unknown_places_are_404_with_a_code(client, file):
    file("one")
    for path, code in (
        ("/wings/nowhere/", "wing_not_found"),
        ("/wings/atlas/rooms/nowhere/", "room_not_found"),
        ("/nothing/", "app::not_found"),
    ):
        page = client.get(path)
        assert page.status_code == 404
        assert code in page.content.decode()


def test_a_room_pages_by_keyset_and_shows_each_once(client, file):
    made = [
        file(f"text {number}", valid_from=f"2026-01-{number + 1:02d}").id for number in range(23)
    ]
    seen: list[str] = []
    address = reverse("room", args=["atlas", "design"]) + "?limit=5"
    while address:
        html = client.get(address).content.decode()
        seen += ids(html)
        older = re.search(r'href="(/[^"]*cursor=[^"]*)" rel="next"', html)
        address = older.group(1).replace("&amp;", "&") if older else ""
    assert seen == made[::-1]


def test_pages_write_nothing_and_take_no_posts(client, file):
    file("one")
    for path in ("/", "/search/", "/wings/atlas/", "/health/"):
        assert client.post(path).status_code == 405


def test_every_answer_carries_the_policy(client, file):
    response = client.get("/")
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert response.headers["X-Frame-Options"] == "DENY"
    assert "HX-Request" in response.headers["Vary"]
    html = response.content.decode()
    assert "<style" not in html
    assert not re.search(r"\sstyle=|\son\w+=", html)
    assert re.search(r"<script(?![^>]*src=)", html) is None


def test_health_names_the_store(client):
    answer = client.get("/health/").json()
    assert answer["status"] == "ok"
    assert answer["store"] == "mem://"


def test_reading_needs_an_account_where_it_is_not_loopback(client, settings, django_user_model):
    settings.MEMCASTLE_BIND = "0.0.0.0:8000"
    page = client.get("/wings/atlas/?as_of=2026-01-01")
    assert page.status_code == 302
    assert page.headers["Location"].startswith("/admin/login/?next=/wings/atlas/")
    by_htmx = client.get("/", headers={"HX-Request": "true"})
    assert by_htmx.headers["HX-Redirect"].startswith("/admin/login/")
    assert client.get("/api/search").status_code == 401
    client.force_login(django_user_model.objects.create_user("reader"))
    assert client.get("/").status_code == 200


def test_the_mode_narrows_everything(client, settings):
    settings.MEMCASTLE_MODE = "disabled"
    page = client.get("/")
    assert page.status_code == 403
    assert "mode_forbidden" in page.content.decode()
    settings.MEMCASTLE_MODE = "full"
    assert client.get("/", headers={"X-MemCastle-Mode": "disabled"}).status_code == 403
    assert client.get("/", headers={"X-MemCastle-Mode": "dream"}).status_code == 400


def test_an_address_above_64_kb_is_414(client):
    page = client.get("/search/?q=" + "x" * 70_000)
    assert page.status_code == 414
    assert "64 kB" in page.content.decode()


def test_a_store_that_is_open_elsewhere_is_told(client, settings, tmp_path):
    from palace import opening
    from palace.store.connection import Address, Store

    held = Store(Address(f"surrealkv://{tmp_path}/palace"))
    held.open()
    opening.close_stores()
    settings.MEMCASTLE_PALACE_URL = ""
    settings.MEMCASTLE_DATA_DIR = tmp_path
    page = client.get("/")
    assert page.status_code == 503
    assert str(tmp_path) in page.content.decode()
    assert "memcastle::store::locked" in page.content.decode()
    held.close()


def test_reading_makes_no_palace(client, settings, tmp_path):
    settings.MEMCASTLE_PALACE_URL = ""
    settings.MEMCASTLE_DATA_DIR = tmp_path
    assert "This palace is empty" in client.get("/").content.decode()
    assert not (tmp_path / "palace").exists()
