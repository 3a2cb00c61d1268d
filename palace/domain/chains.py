"""Placing rows of one key in time: versions of one piece of knowledge, one after the other.

Each version is closed at the start of the next. An end before that start is a gap and stays; a
later one is an overlap and is cut. Equal starts are moved apart by one microsecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from palace.domain.time import MAX_INSTANT


@dataclass(frozen=True)
class Link:
    """One version of a chain. ``there`` are those only the palace holds; rows of the file that it
    holds too are ``stored``.

    ``order`` is the place in the file, ``created_at`` and ``closed_at`` the record time.
    """

    id: str
    valid_from: int
    valid_to: int | None
    created_at: int
    order: int = 0
    closed_at: int | None = None
    there: bool = False
    stored: bool = False
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class Placed:
    """The chain in order, and what had to be told of."""

    links: tuple[Link, ...]
    moved: int = 0
    cut: int = 0
    refused: tuple[Link, ...] = ()
    beyond: tuple[Link, ...] = ()  # moved out of the calendar


def place(links: Sequence[Link], *, rewrite: bool = False) -> Placed:
    """Order the versions of one key. New ones that lie before what is there are refused,

    unless ``rewrite`` inserts them.
    """
    there = [link for link in links if link.there]
    last = max((link.valid_from for link in there), default=None)
    late = [
        link
        for link in links
        if not (link.there or link.stored or rewrite or last is None or link.valid_from > last)
    ]
    refused = {link.id for link in late}
    kept = sorted(
        (link for link in links if link.id not in refused),
        key=lambda link: (link.valid_from, not link.there, link.order),
    )
    spread, moved = _spread(kept)
    closed, cut = _close([link for link in spread if link.valid_from <= MAX_INSTANT])
    beyond = tuple(link for link in spread if link.valid_from > MAX_INSTANT)
    return Placed(tuple(closed), moved, cut, tuple(late), beyond)


def _spread(links: list[Link]) -> tuple[list[Link], int]:
    """Make the starts strictly increasing by the smallest step."""
    result: list[Link] = []
    moved = 0
    for link in links:
        if result and link.valid_from <= result[-1].valid_from:
            link = replace(link, valid_from=result[-1].valid_from + 1)  # noqa: PLW2901
            moved += 1
        result.append(link)
    return result, moved


def _close(links: list[Link]) -> tuple[list[Link], int]:
    """Close each version at the next one's start, and tie the two."""
    result: list[Link] = []
    cut = 0
    for place, link in enumerate(links):
        before = links[place - 1].id if place else link.before
        if place + 1 == len(links):
            result.append(replace(link, before=before))
            continue
        following = links[place + 1]
        cut += link.valid_to is not None and link.valid_to > following.valid_from
        result.append(_closed(replace(link, before=before), following))
    return result, cut


def _closed(link: Link, following: Link) -> Link:
    """End a version where the next begins; an earlier end of its own stays."""
    tied = replace(link, after=following.id)
    if link.valid_to is not None and link.valid_to <= following.valid_from:
        return tied
    recorded = max(link.created_at, following.created_at)
    return replace(tied, valid_to=following.valid_from, closed_at=recorded)
