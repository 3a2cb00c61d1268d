"""Pages over a small palace in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from palace import opening
from palace.curation import CurationService, NewDrawer
from palace.domain.records import Drawer
from palace.domain.time import parse_instant

File = Callable[..., Drawer]


@pytest.fixture(autouse=True)
def palace(settings: Any, db: None) -> Iterator[None]:
    """An empty palace, and the settings a bare machine has."""
    opening.close_stores()
    settings.MEMCASTLE_PALACE_URL = "mem://"
    settings.MEMCASTLE_BIND = "127.0.0.1:8000"
    settings.MEMCASTLE_MODE = "full"
    settings.MEMCASTLE_REQUIRE_LOGIN = False
    yield
    opening.close_stores()


@pytest.fixture
def curation() -> CurationService:
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
