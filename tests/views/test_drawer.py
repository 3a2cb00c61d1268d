"""The page of one drawer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from palace import opening
from palace.curation import CurationService, NewDrawer
from palace.domain.records import Drawer
from palace.domain.time import parse_instant
from palace.sources.importer import import_rows
from palace.sources.planning import Options
from palace.sources.report import ImportReport

File = Callable[..., Drawer]
FEBRUARY, MAY = parse_instant("2026-02-01"), parse_instant("2026-05-01")


def at(instant: int) -> CurationService:
    """Writes whose clock stands at an instant."""
    return CurationService(opening.curation(for_new=True).store, lambda: instant, "quay")


def page(client: Client, ident: str, query: str = "", status: int = 200) -> str:
    response = client.get(f"/drawers/{ident}/{query}")
    assert response.status_code == status
    return response.content.decode()


@pytest.fixture
def old(file: File) -> Drawer:
    return file("# Tides\n\nFifteen *minutes*.", valid_from="2026-03-01", name="tide-source")


@pytest.fixture
def new(old: Drawer) -> Drawer:
    return at(MAY).supersede(old.id, "# Tides\n\nOne minute.", reason="an <API> came").drawer


def test_it_works(client: Client, old: Drawer) -> None:
    html = page(client, old.id)
    assert '<h1 dir="auto">Tides</h1>' in html
    assert "Fifteen <em>minutes</em>." in html
    assert '<span class="badge now">true now</span>' in html
    assert "standing-" not in html


def test_all_metadata_is_there(client: Client, file: File) -> None:
    source = {"kind": "file", "agent": "quay", "project": "ferry", "uri": "notes/a.md"}
    one = file("text\r\n", name="a name", tags=("tides", "sea"), source=source)
    html = page(client, one.id)
    told = (one.id, one.content_hash, "a name", "sea", "notes/a.md", "6 bytes", "CRLF", "anonymous")
    assert all(part in html for part in told)
    assert "2026-03-01T00:00:00.000000Z" in html
    assert 'href="/search/?project=ferry"' in html


def test_a_replaced_drawer_says_so_first_and_links_on(
    client: Client, old: Drawer, new: Drawer
) -> None:
    html = page(client, old.id)
    assert "Replaced: not true any more." in html
    assert "an &lt;API&gt; came" in html
    assert html.index("See what replaced it") < html.index("<h1")
    assert f'href="/drawers/{new.id}/"' in html
    assert "true now</span>" not in html


def test_what_was_true_then_says_that_it_is_no_longer(
    client: Client, old: Drawer, new: Drawer
) -> None:
    html = page(client, old.id, "?as_of=2026-04-01")
    assert "True then, not any more." in html
    assert f'href="/drawers/{new.id}/?as_of=2026-04-01"' in html


def test_before_its_beginning_it_is_still_shown(client: Client, new: Drawer, old: Drawer) -> None:
    html = page(client, new.id, "?as_of=2026-04-01")
    assert "Not yet begun." in html
    assert "One minute." in html
    assert f'href="/drawers/{old.id}/?as_of=2026-04-01">version from' in html


def test_an_end_without_replacement_is_told(client: Client, old: Drawer) -> None:
    at(MAY).invalidate(old.id, reason="found out")
    html = page(client, old.id)
    assert "Ended: not true any more." in html
    assert "nothing replaced it" in html
    assert "True then, not any more." in page(client, old.id, "?as_of=2026-03-02")


def test_what_was_not_known_is_told(client: Client, old: Drawer, new: Drawer) -> None:
    before = page(client, old.id, "?known_at=2026-02-01")
    assert "Not yet known." in before
    assert "Fifteen" in before


def test_an_end_recorded_later_is_told(client: Client) -> None:
    first = at(FEBRUARY)
    ident = first.file_drawer(NewDrawer("atlas", "design", "Old truth.")).drawer.id
    at(MAY).invalidate(ident, at=parse_instant("2026-03-01"))
    html = page(client, ident, "?as_of=2026-04-01&known_at=2026-04-01")
    assert "Its end was not known yet." in html


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?from=2026-01-01&until=2026-02-01", "Not true in the period asked."),
        ("?from=2026-04-01&until=2026-06-01", "True in a part of this period only"),
        ("?history=1", "Replaced: not true any more."),
    ],
)
def test_windows_and_history_have_their_words(
    client: Client, old: Drawer, new: Drawer, query: str, words: str
) -> None:
    assert words in page(client, old.id, query)


def test_as_written_keeps_every_sign(client: Client, file: File) -> None:
    one = file("\n# A <b>\n\n  * x\n")
    html = page(client, one.id, "?view=raw")
    assert ">\n\n# A &lt;b&gt;\n\n  * x\n</pre>" in html
    assert '<a href="?view=rendered">Rendered</a>' in html


def test_an_unknown_view_is_told(client: Client, old: Drawer) -> None:
    html = page(client, old.id, "?view=upside-down")
    assert "There is no view “upside-down” of a text." in html
    assert "Fifteen <em>minutes</em>." in html


def test_a_long_text_is_shown_as_written_unless_rendering_is_asked(
    client: Client, file: File
) -> None:
    one = file("# Long\n\n" + "Some *words*. " * 20_000)
    assert "so it is shown as written" in page(client, one.id)
    assert "<em>words</em>" in page(client, one.id, "?view=rendered")


def test_each_text_finds_its_direction(client: Client, file: File) -> None:
    assert '<p dir="auto">مرحبا' in page(client, file("# ترحيب\n\nمرحبا بكم").id)


def test_versions_lead_to_each_other(client: Client, old: Drawer, new: Drawer) -> None:
    assert f'rel="next" href="/drawers/{new.id}/"' in page(client, old.id)
    assert f'rel="prev" href="/drawers/{old.id}/"' in page(client, new.id)


def test_an_unknown_id_is_a_404_with_its_code(client: Client) -> None:
    html = page(client, "nowhere", status=404)
    assert "memcastle::palace::drawer_not_found" in html


def test_a_bad_instant_is_a_400(client: Client, old: Drawer) -> None:
    page(client, old.id, "?as_of=yesterday", status=400)


def test_only_staff_see_the_way_to_supersede(
    client: Client, admin_client: Client, old: Drawer, new: Drawer
) -> None:
    assert "/supersede/" not in page(client, new.id)
    assert f"/admin/palace/drawer/{new.id}/supersede/" in page(admin_client, new.id)
    assert "/supersede/" not in page(admin_client, old.id)


def test_neighbours_share_entities_at_the_instant(client: Client, file: File) -> None:
    one, other, late = file("one"), file("other"), file("late", valid_from="2026-06-01")
    _mention("Harbour office", one, other, late)
    html = page(client, one.id, "?as_of=2026-04-01")
    near = html[html.index("Near: they mention the same") :]
    assert other.id in near
    assert late.id not in near
    assert "both mention" in near
    assert 'href="/search/?entity=Harbour+office&amp;as_of=2026-04-01"' in html


def test_facts_are_those_of_the_instant(client: Client, file: File) -> None:
    one = file("one")
    _mention("Harbour office", one)
    fact = {"type": "fact", "subject": "Harbour office", "subject_kind": "place"}
    fact |= {"object": "berth 7", "object_kind": "place", "predicate": "closes"}
    _import(fact | {"valid_from": "2026-03-01", "valid_to": "2026-05-01"})
    assert "closes" in page(client, one.id, "?as_of=2026-04-01")
    assert "Facts about" not in page(client, one.id, "?as_of=2026-05-01")


def test_a_replacement_that_is_not_here_is_told_and_not_linked(client: Client) -> None:
    row = {"id": "one", "wing": "w", "room": "r", "content": "one", "valid_from": "2026-01-01"}
    _import(row | {"valid_to": "2026-02-01", "superseded_by": ["gone"]})
    html = page(client, "one")
    assert "What replaced it is not in this palace" in html
    assert "/drawers/gone/" not in html


def test_other_versions_are_no_neighbours(client: Client, old: Drawer, new: Drawer) -> None:
    _mention("Harbour office", old, new)
    assert "mentions what this one mentions" in page(client, old.id)


def _mention(entity: str, *drawers: Drawer) -> None:
    mentions = [
        {"type": "mention", "drawer": one.id, "entity": entity, "kind": "place"} for one in drawers
    ]
    _import({"type": "entity", "name": entity, "kind": "place"}, *mentions)


def _import(*rows: dict[str, Any]) -> None:
    numbered = list(enumerate(rows, 1))
    import_rows(opening.store(), lambda: numbered, Options(now=MAY), ImportReport())
