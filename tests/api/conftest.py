"""A palace in memory for each test, and callers with and without an account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from palace import opening
from palace.curation import CurationService, NewDrawer
from palace.domain.records import Drawer
from palace.domain.time import parse_instant

File = Callable[..., Drawer]
Send = Callable[..., Any]


@pytest.fixture(scope="module")
def open_palace() -> Iterator[None]:
    """One store for a module: opening one takes longer than a test."""
    opening.close_stores()
    yield
    opening.close_stores()


@pytest.fixture(autouse=True)
def palace(settings: Any, open_palace: None) -> None:
    """An empty palace, and the settings a bare machine has."""
    settings.MEMCASTLE_PALACE_URL = "mem://"
    settings.MEMCASTLE_BIND = "127.0.0.1:8000"
    settings.MEMCASTLE_MODE = "full"
    settings.MEMCASTLE_REQUIRE_LOGIN = False
    store = opening.store(for_new=True)
    if store.is_open:
        for table in ("mentions", "relates_to", "drawer", "entity", "room", "wing"):
            store.write(f"DELETE {table}")
        store.caches.clear()


@pytest.fixture
def curation() -> CurationService:
    """Writes by the real clock, past the check of permissions."""
    return opening.curation(for_new=True)


@pytest.fixture
def file(curation: CurationService) -> File:
    """File a drawer: ``file("text", wing=, room=, valid_from="2026-03-01", ...)``."""

    def make(content: str, *, valid_from: str = "2026-03-01", **named: Any) -> Drawer:
        wanted = NewDrawer(
            wing=named.pop("wing", "atlas"),
            room=named.pop("room", "design"),
            content=content,
            valid_from=parse_instant(valid_from),
            **named,
        )
        return curation.file_drawer(wanted).drawer

    return make


@pytest.fixture
def staff(db: None) -> Client:
    """Signed in with a staff account."""
    client = Client()
    client.force_login(User.objects.create_user("curator", is_staff=True))
    return client


@pytest.fixture
def reader(db: None) -> Client:
    """Signed in without rights to write."""
    client = Client()
    client.force_login(User.objects.create_user("reader"))
    return client


@pytest.fixture
def post(staff: Client) -> Send:
    """POST a JSON body as staff."""

    def send(path: str, body: Any) -> Any:
        return staff.post(path, body, content_type="application/json")

    return send
