"""Names in paths: one converter for pages and routes.

Servers decode `%2F` before a program sees it, so `/` cannot be percent-encoded; it is written
`~2F`, the tilde itself `~7E`, and the dot of names made of dots alone `~2E`.
"""

from __future__ import annotations

import re

from django.urls import register_converter
from django.urls.converters import get_converters

_ESCAPED = re.compile(r"~(2F|7E|2E)")
_MEANING = {"2F": "/", "7E": "~", "2E": "."}


def write_name(name: str) -> str:
    """A name as one path segment (still to be percent-encoded by the URL)."""
    text = name.replace("~", "~7E").replace("/", "~2F")
    return text.replace(".", "~2E") if set(name) == {"."} else text


def read_name(segment: str) -> str:
    """The name of a path segment."""
    return _ESCAPED.sub(lambda match: _MEANING[match.group(1)], segment)


class NameConverter:
    """`<name:wing>` in URL patterns."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return read_name(value)

    def to_url(self, value: str) -> str:
        return write_name(value)


def register() -> None:
    """Make the converter known; safe to call from several modules of URLs."""
    if "name" not in get_converters():
        register_converter(NameConverter, "name")
