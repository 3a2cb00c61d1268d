"""The time bar: positions become instants, choices exclude each other, links are there."""

from __future__ import annotations

import re

from palace.domain.time import SECOND, parse_instant
from palace.render.timebar import earlier
from palace.store import timeline


def seconds(day: str) -> int:
    return parse_instant(day) // SECOND


def test_a_slide_is_redirected_to_a_named_instant(client, file):
    file("one", valid_from="2026-01-01")
    page = client.get(f"/search/?q=one&t={seconds('2026-02-01')}&t_now={seconds('2026-11-01')}")
    assert page.status_code == 302
    assert page.headers["Location"] == "/search/?q=one&as_of=2026-02-01"


def test_the_last_stop_is_now(client, file):
    last = seconds("2026-11-01")
    assert client.get(f"/?t={last}&t_now={last}&as_of=2026-01-01").headers["Location"] == "/"


def test_with_htmx_the_page_comes_at_once_with_its_address(client, file):
    file("one", valid_from="2026-01-01")
    page = client.get(
        f"/?t={seconds('2026-02-01')}&t_now={seconds('2026-11-01')}", headers={"HX-Request": "true"}
    )
    assert page.status_code == 200
    assert page.headers["HX-Replace-Url"] == "/?as_of=2026-02-01"
    assert "As of 1 February 2026" in page.content.decode()


def test_stops_are_buckets_of_the_span(client, file):
    file("one", valid_from="2025-01-01")
    html = client.get("/").content.decode()
    bar = dict(re.findall(r'(min|max|step|value)="(-?\d+)"', html.split('type="range"')[1][:300]))
    low, high, step = int(bar["min"]), int(bar["max"]), int(bar["step"])
    assert (high - low) % step == 0
    assert (high - low) // step < 200
    assert low <= seconds("2025-01-01") < low + step
    assert bar["value"] == bar["max"]


def test_previous_and_next_change(client, file):
    for day in ("2026-01-01", "2026-02-01", "2026-03-01"):
        file(f"of {day}", valid_from=day)
    html = client.get("/?as_of=2026-02-01").content.decode()
    assert 'href="?as_of=2026-01-01" rel="prev"' in html
    assert 'href="?as_of=2026-03-01" rel="next"' in html


def test_three_choices_without_a_script(client, file):
    file("one", valid_from="2026-01-01")
    html = client.get("/").content.decode()
    assert 'name="as_of"' in html
    assert 'name="from"' in html
    assert "history=1" in html
    assert "All history" in client.get("/?history=1").content.decode()
    assert (
        "What held at some time in that window"
        in client.get("/?from=2026-01-01&until=2026-02-01").content.decode()
    )


def test_hidden_fields_keep_the_question_and_not_the_time(client, file):
    file("one", valid_from="2026-01-01")
    html = client.get("/search/?q=one&tag=a&as_of=2026-01-02").content.decode()
    scrub = html.split('id="scrub"')[1].split("</form>")[0]
    assert '<input type="hidden" name="q" value="one">' in scrub
    assert '<input type="hidden" name="tag" value="a">' in scrub
    assert 'name="as_of"' not in scrub


def test_positions_that_are_none_are_refused(client):
    for position in ("soon", "999999999999999999999", "-190000000000"):
        page = client.get(f"/?t={position}")
        assert page.status_code == 400
        assert "as_of=2026-03-14" in page.content.decode()


def test_a_month_earlier_is_a_calendar_month():
    at = parse_instant("2026-03-31T10:00Z")
    assert earlier(at, 0, 1) == parse_instant("2026-02-28T10:00Z")
    assert earlier(parse_instant("2024-02-29"), 0, 12) == parse_instant("2023-02-28")
    assert earlier(parse_instant("0001-01-05"), 0, 1) == parse_instant("0001-01-01")


def test_the_view_of_a_text_stays_while_time_moves(client, file):
    drawer = file("one", valid_from="2026-01-01")
    html = client.get(f"/drawers/{drawer.id}/?view=raw").content.decode()
    assert '<input type="hidden" name="view" value="raw">' in html


def test_a_memory_of_the_year_one_leaves_every_page_readable(client, file):
    first = file("from the first day", valid_from="0001-01-01")
    paths = ("/", "/search/?q=first", "/wings/atlas/", f"/drawers/{first.id}/", "/api/timeline")
    for path in paths:
        assert client.get(path).status_code == 200
    assert client.get("/?as_of=0001-01-01").content.decode().count("from the first day") >= 1


def test_the_bar_reads_the_changes_of_its_scope_once(client, file, monkeypatch):
    file("one")
    asked = []
    real = timeline.changes
    monkeypatch.setattr(timeline, "changes", lambda *a, **k: asked.append(1) or real(*a, **k))
    assert client.get("/?known_at=2030-01-01").status_code == 200
    assert len(asked) == 1
