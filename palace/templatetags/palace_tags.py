"""Instants as text, links that keep the instant, marks in snippets."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.template.context import RequestContext
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from palace.domain.time import print_instant, to_datetime

register = template.Library()


def day_text(moment: datetime) -> str:
    """`3 Feb 2026`, without a locale."""
    return f"{moment.day} {moment:%b} {moment.year}"


def instant_text(instant: int) -> str:
    """`3 Feb 2026` at midnight, else with hours, and seconds or microseconds where they count."""
    moment = to_datetime(instant)
    day = day_text(moment)
    if moment.hour == moment.minute == moment.second == moment.microsecond == 0:
        return f"{day}, 00:00 UTC"
    if moment.microsecond:
        return f"{day}, {moment:%H:%M:%S.%f} UTC"
    return f"{day}, {moment:%H:%M:%S} UTC" if moment.second else f"{day}, {moment:%H:%M} UTC"


@register.filter(name="instant")
def instant_element(instant: int | None) -> SafeString | str:
    """A `<time>` element with date, time and zone."""
    if instant is None:
        return ""
    written = print_instant(instant)
    return format_html('<time datetime="{}">{}</time>', written, instant_text(instant))


@register.filter(name="day")
def day_element(instant: int | None) -> SafeString | str:
    """A `<time>` element with the date alone; its title is exact."""
    if instant is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        print_instant(instant),
        instant_text(instant),
        day_text(to_datetime(instant)),
    )


@register.simple_tag(takes_context=True)
def palace_url(context: RequestContext, name: str, *args: Any) -> str:
    """The address of a page, with the instant that is looked at."""
    asked = context.get("asked")
    query = asked.time_query if asked is not None else ""
    address = _address(name, *args)
    return f"{address}?{query}" if query else address


@lru_cache(maxsize=8192)
def _address(name: str, *args: str) -> str:
    """Addresses of a page repeat: a row names its drawer and its room more than once."""
    return reverse(name, args=args)
