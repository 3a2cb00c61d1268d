"""Remembered Markdown as HTML that is safe to show: no raw HTML, no images fetched, no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

QUICK_CHARS = 100_000  # longer texts are shown as written unless rendering is asked for
MOST_CHARS = 600_000  # beyond this a page would take seconds; it is never rendered, and told
SCHEMES = {"http", "https", "mailto"}
_TAGS = {
    *("a", "blockquote", "br", "code", "div", "em", "hr", "li", "ol", "p", "pre", "s", "span"),
    *("strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
    *("h2", "h3", "h4", "h5", "h6"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start", "dir"},
    "pre": {"tabindex"},
    "div": {"tabindex", "role", "aria-label"},
} | {tag: {"dir"} for tag in ("p", "ul", "blockquote", "table")}
_ATTRIBUTES |= {f"h{level}": {"dir"} for level in range(2, 7)}
_CLASSES = {"div": {"scroll"}, "span": {"image"}, "td": {"right", "center"}}
_CLASSES["th"] = _CLASSES["td"]


@dataclass(frozen=True)
class Reading:
    """A text to read: its own first heading apart, since the page has one heading only.

    ``body`` is None when the text is too long to render.
    """

    heading: SafeString | None
    body: SafeString | None


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Only whole addresses are links: a relative one would point into this site."""
        return url.partition(":")[0].lower() in SCHEMES and ":" in url


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    """An image is told, not fetched: the page talks to no other host."""
    token = tokens[index]
    alt = renderer.renderInlineAsText(token.children or [], options, env)
    source = str(token.attrs.get("src", ""))
    return f'<span class="image">{escape(alt)} <code>{escape(source)}</code></span>'


def _code(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    """Code scrolls sideways, so it takes the focus for keys."""
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _parser() -> _Parser:
    parser = _Parser("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"])
    for name, rule in (("image", _image), ("fence", _code), ("code_block", _code)):
        parser.add_render_rule(name, rule)
    return parser


_MARKDOWN = _parser()


@lru_cache(maxsize=32)
def read(content: str) -> Reading:
    """The content as HTML. Drawers never change, so a reading may be kept."""
    if len(content) > MOST_CHARS:
        return Reading(None, None)
    tokens = _MARKDOWN.parse(content)
    heading, rest = _split(tokens)
    _outline(rest)
    for token in rest:
        _dress(token)
    html = _MARKDOWN.renderer.render(rest, _MARKDOWN.options, {})
    return Reading(_clean(heading) if heading else None, _clean(_scrolling(html)))


def _split(tokens: list[Token]) -> tuple[str | None, list[Token]]:
    """The first heading's inline HTML, and what follows it."""
    if not tokens or tokens[0].type != "heading_open" or not tokens[1].content.strip():
        return None, tokens
    # An inline token renders as its content alone, without the heading's element.
    return _MARKDOWN.renderer.render([tokens[1]], _MARKDOWN.options, {}), tokens[3:]


def _outline(tokens: list[Token]) -> None:
    """Headings begin at level two, under the page's own, and never skip a level."""
    above: list[str] = []
    opened = ""
    for token in tokens:
        if token.type == "heading_open":
            while above and above[-1] >= token.tag:
                above.pop()
            above.append(token.tag)
            opened = f"h{min(6, len(above) + 1)}"
        if token.type in ("heading_open", "heading_close"):
            token.tag = opened


def _dress(token: Token) -> None:
    """Each block finds its own direction; alignment is a class, since styles are barred."""
    if token.level == 0 and token.nesting == 1:
        token.attrSet("dir", "auto")
    style = str(token.attrs.pop("style", ""))
    for side in ("right", "center"):
        if style.endswith(side):
            token.attrSet("class", side)


def _scrolling(html: str) -> str:
    """Wide tables scroll in a box of their own, by keys too."""
    box = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
    return html.replace("<table", f"{box}<table").replace("</table>", "</table></div>")


def _clean(html: str) -> SafeString:
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(cleaned)  # both walls have been passed
