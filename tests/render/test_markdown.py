from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.render.markdown import MOST_CHARS, read


def body(content: str) -> str:
    return str(read(content).body)


def test_the_first_heading_is_kept_apart() -> None:
    reading = read("# Why `tide` *matters*\n\nBecause.\n")
    assert reading.heading == "Why <code>tide</code> <em>matters</em>"
    assert reading.body == '<p dir="auto">Because.</p>\n'


def test_a_text_without_heading_has_none() -> None:
    assert read("Just words.\n\n# Later\n").heading is None


def test_headings_never_skip_a_level() -> None:
    html = body("intro\n\n#### deep\n\n## up\n\n### under\n\n##### far under\n\n# top\n")
    assert re.findall(r"<(h\d)", html) == ["h2", "h2", "h3", "h4", "h2"]


def test_tables_scroll_and_align_without_styles() -> None:
    html = body("| a | b |\n|--:|:-:|\n| 1 | 2 |\n")
    assert 'role="group" aria-label="Table"' in html
    assert '<td class="right">1</td>' in html
    assert "style" not in html


def test_code_is_escaped_and_takes_the_focus() -> None:
    assert '<pre tabindex="0"><code>&lt;table&gt;\n</code></pre>' in body("```sql\n<table>\n```\n")


def test_each_block_finds_its_own_direction() -> None:
    assert body("مرحبا\n\n- one\n").count('dir="auto"') == 2


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "<javascript:alert(1)>",
        '[x](https://a.example/"onmouseover=alert(1))',
        "![x](https://a.example/x.png)",
        "<a href='https://a.example' style='x'>y</a>",
    ],
)
def test_nothing_runs_and_nothing_is_fetched(hostile: str) -> None:
    html = body("words\n\n" + hostile)
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {"p", "a", "span", "code"}
    for attributes in re.findall(r"<\w+([^>]*)>", html):
        assert not re.search(r"\b(on\w+|style|src)=", re.sub(r'"[^"]*"', "", attributes))
    assert not re.search(r'href="(?!https?:|mailto:)', html)


def test_relative_links_stay_as_written() -> None:
    assert "[notes](../notes.md)" in body("See [notes](../notes.md).")


def test_an_image_is_told_with_its_address() -> None:
    html = body("![A map](https://a.example/map.png)")
    assert '<span class="image">A map <code>https://a.example/map.png</code></span>' in html


def test_a_very_long_text_is_not_rendered() -> None:
    assert read("a" * (MOST_CHARS + 1)).body is None


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="ab<>&\"'`*_[]()#|-!\n :/=", max_size=80))
def test_any_text_gives_safe_html(content: str) -> None:
    html = str(read(content).heading or "") + body(content)
    assert not re.search(r"<(script|img|iframe|style|svg|form|input)", html)
    assert not re.search(r"<[^>]*\s(on\w+|style)=", html)
