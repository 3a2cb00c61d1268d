"""The search page: answers, filters, seams, marks, odd input."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.views.test_pages import ids


def get(client, address: str) -> str:
    page = client.get(address)
    assert page.status_code == 200, page.content[:500]
    return page.content.decode()


def words_of(html: str) -> str:
    main = html.split('<main id="main"')[1].split("</main>", maxsplit=1)[0]
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main)))


def test_an_empty_query_lists_newest_first(client, file):
    old, new = file("old", valid_from="2026-01-01"), file("new", valid_from="2026-02-01")
    assert ids(get(client, "/search/")) == [new.id, old.id]
    assert ids(get(client, "/search/?q=*")) == [new.id, old.id]


def test_all_words_come_before_any_word_and_the_seam_is_told(client, file):
    any_word = file("the tide is late")
    both = file("tide tables and the import")
    for number in range(6):
        file(f"nothing of it {number}")
    html = get(client, "/search/?q=tide+import")
    assert ids(html) == [both.id, any_word.id]
    assert "some of the words" in html


def test_marks_are_escaped_piece_by_piece(client, file):
    file("<script>alert('tide')</script> & the tide")
    html = get(client, "/search/?q=tide")
    assert "<script>alert" not in html
    assert (
        "&lt;script&gt;alert(&#x27;<mark>tide</mark>&#x27;)" in html or "<mark>tide</mark>" in html
    )


def test_accents_fold_and_unspaced_text_is_found(client, file):
    spanish, japanese = file("says Tomás"), file("港の担当者は毎週潮汐表を紙で受け取る")
    file("c++ and .env and foo_bar")
    assert ids(get(client, "/search/?q=tomas")) == [spanish.id]
    assert ids(get(client, "/search/?q=潮汐表")) == [japanese.id]
    assert "<mark>潮汐表</mark>" in get(client, "/search/?q=潮汐表")


@pytest.mark.parametrize("word", ["c%2B%2B", ".env", "foo_bar"])
def test_symbols_are_found_as_written(client, file, word):
    there = file("we use c++ with .env and foo_bar here")
    file("we use c with env and foo bar here")
    assert ids(get(client, f"/search/?q={word}")) == [there.id]


def test_filters_narrow_and_keep_their_own_alternatives(client, file):
    one = file("tide", room="a", tags=("x",))
    file("tide also", room="b", tags=("y",))
    html = get(client, "/search/?q=tide&wing=atlas&room=a")
    assert ids(html) == [one.id]
    side = html.split('aria-label="Filters"')[1]
    assert ">b" in side
    assert 'aria-current="true"' in side


def test_an_unknown_wing_in_a_filter_is_told(client, file):
    file("tide")
    html = get(client, "/search/?q=tide&wing=nowhere")
    assert "There is no wing “nowhere”" in words_of(html)
    assert ids(html) == []


def test_unknown_parameters_are_told(client, file):
    assert "“mood” is not known" in words_of(get(client, "/search/?mood=sunny"))


def test_a_bad_instant_keeps_the_form_and_shows_no_results(client, file):
    file("tide")
    page = client.get("/search/?q=tide&as_of=yesterday")
    html = page.content.decode()
    assert page.status_code == 400
    assert ids(html) == []
    assert 'value="yesterday"' in html
    assert 'value="tide"' in html
    assert "YYYY-MM-DD" in html


@pytest.mark.parametrize(
    "query",
    [
        "as_of=2026-01-01&history=1",
        "from=2026-01-01",
        "from=2026-02-01&until=2026-01-01",
        "limit=many",
        "ranking=best",
        "source_kind=dream",
        "cursor=nonsense",
        "q=%00",
        "q=x&ranking=semantic",
    ],
)
def test_bad_input_is_400_with_what_is_allowed(client, file, query):
    file("tide")
    page = client.get(f"/search/?{query}")
    assert page.status_code == 400
    assert "memcastle::" in page.content.decode()


def test_a_superseded_drawer_is_found_in_the_past_only(client, file, curation):
    old = file("tide at noon", valid_from="2026-01-01")
    new = curation.supersede(old.id, "tide at one").drawer
    assert ids(get(client, "/search/?q=tide")) == [new.id]
    assert ids(get(client, "/search/?q=tide&as_of=2026-02-01")) == [old.id]
    assert set(ids(get(client, "/search/?q=tide&history=1"))) == {old.id, new.id}
    assert "retired" in get(client, "/search/?q=tide&history=1")


def test_pages_of_an_answer_are_the_whole_answer(client, file):
    made = {file(f"tide number {number}").id for number in range(17)}
    for number in range(20):
        file(f"nothing of it {number}")
    seen: list[str] = []
    address = "/search/?q=tide&limit=5"
    while address:
        html = get(client, address)
        seen += ids(html)
        found = re.search(r'href="(/[^"]*cursor=[^"]*)" rel="next"', html)
        address = unescape(found.group(1)) if found else ""
    assert len(seen) == 17
    assert set(seen) == made


def test_filters_of_the_source_have_a_form(client, file):
    one = file("tide", source={"kind": "file", "project": "p", "path": "src/a.md"})
    file("tide elsewhere", source={"kind": "file", "project": "q", "path": "b.md"})
    html = get(client, "/search/?q=tide&project=p&path=src&as_of=2026-06-01")
    assert ids(html) == [one.id]
    form = html.split("Where it came from")[1].split("</form>")[0]
    assert 'name="path" value="src"' in form
    assert '<input type="hidden" name="q" value="tide">' in form
    assert '<input type="hidden" name="as_of" value="2026-06-01">' in form
    assert 'type="hidden" name="project"' not in form
