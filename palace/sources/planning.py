"""The first reading of an import: checks every row and places the versions of each key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from palace.domain.chains import Link, place
from palace.domain.errors import InvalidInput, PalaceError
from palace.domain.records import Drawer
from palace.sources.graph_rows import check_graph_row
from palace.sources.report import ImportReport
from palace.sources.rows import (
    DrawerRow,
    instant,
    optional,
    read_drawer_row,
    read_mined,
    read_place,
    text,
    type_of,
)
from palace.store import importing
from palace.store.connection import Store
from palace.store.importing import End

Numbered = tuple[int, Any]  # line number, parsed row (or an exception that parsing raised)


@dataclass(frozen=True)
class Options:
    """``now`` is the time of the import. ``strict`` stops at the first refused line."""

    now: int
    rewrite: bool = False
    strict: bool = False
    dry_run: bool = False


@dataclass
class Plan:
    """What the first reading found: where each drawer goes, and what ends what."""

    links: dict[str, Link] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)  # of the text that an id stands for
    keys: dict[str, list[str]] = field(default_factory=dict)
    ends: dict[str, list[tuple[int, str | None]]] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    is_export: bool = False
    stored_ends: dict[str, End] = field(default_factory=dict)  # by the row that brings it
    loose_ends: list[End] = field(default_factory=list)
    reasons: dict[str, str | None] = field(default_factory=dict)
    timeless: set[str] = field(default_factory=set)  # rows that begin when they are imported
    stored_links: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def first_reading(
    store: Store, rows: Iterable[Numbered], options: Options, report: ImportReport
) -> Plan:
    """Check every row; place the versions of each key among those the palace holds."""
    plan = Plan()
    for line, row in rows:
        report.read += 1
        try:
            _plan_row(plan, line, row, options, report)
        except PalaceError as error:
            plan.refused.add(line)
            report.refuse(line, f"{error.message} {error.help}".strip())
            if options.strict:
                raise InvalidInput(
                    f"Line {line}: {error.message}", help="Nothing was written.", code=error.code
                ) from None
    _place_keys(store, plan, options, report)
    return plan


def _plan_row(plan: Plan, line: int, row: Any, options: Options, report: ImportReport) -> None:
    if isinstance(row, Exception):
        raise InvalidInput(f"The line is not JSON: {row}")
    kind = type_of(row)
    if kind == "manifest":
        _check_manifest(row)
        plan.is_export = True
    elif kind == "end":
        at = instant(row, "valid_to", options.now)
        assert at is not None
        end = (at, optional(row, "close_reason"))
        plan.ends.setdefault(text(row, "key"), []).append(end)
    elif kind == "drawer":
        _plan_drawer(plan, read_drawer_row(row, line, options.now), report)
    elif kind in ("wing", "room"):
        read_place(row, options.now)
    elif kind == "mined":
        read_mined(row)
    elif kind == "event":
        report.ignored["event"] += 1
    else:
        check_graph_row(kind, row, options.now)


def _check_manifest(row: dict[str, Any]) -> None:
    if row.get("format") != "memcastle-palace" or row.get("version") != 1:
        raise InvalidInput("The manifest is not of the format memcastle-palace, version 1.")


def _plan_drawer(plan: Plan, read: DrawerRow, report: ImportReport) -> None:
    drawer = read.drawer
    report.unknown_keys |= read.unknown
    if plan.hashes.setdefault(drawer.id, drawer.content_hash) != drawer.content_hash:
        raise InvalidInput(f"The id “{drawer.id}” is that of another text in this file.")
    if drawer.id in plan.links:
        return  # the same line twice is one drawer
    placed = drawer.key is not None and not (read.is_record or plan.is_export)
    plan.links[drawer.id] = Link(
        drawer.id,
        drawer.valid_from,
        drawer.valid_to,
        drawer.created_at,
        read.line,
        drawer.closed_at,
    )
    if read.is_timeless:
        plan.timeless.add(drawer.id)
    if placed and drawer.key is not None:
        plan.keys.setdefault(drawer.key, []).append(drawer.id)


def _place_keys(store: Store, plan: Plan, options: Options, report: ImportReport) -> None:
    keys = sorted({*plan.keys, *plan.ends})
    stored: dict[str, list[Drawer]] = {}
    for version in importing.versions_of(store, keys):
        stored.setdefault(version.key or "", []).append(version)
    for key in keys:
        _place_key(plan, key, stored.get(key, []), options, report)


def _place_key(
    plan: Plan, key: str, stored: list[Drawer], options: Options, report: ImportReport
) -> None:
    mine = set(plan.keys.get(key, ()))
    there = {one.id: one for one in stored if one.id not in mine}
    known = {one.id: one for one in stored}
    links = [_stored_link(one) for one in there.values()]
    links += [_again(plan, plan.links[one], known.get(one)) for one in plan.keys.get(key, ())]
    placed = place(links, rewrite=options.rewrite)
    report.moved += placed.moved
    report.cut += placed.cut
    for link in placed.refused:
        report.refuse(link.order, "It would rewrite the past of its key; see --rewrite.")
    for link in placed.beyond:
        report.refuse(link.order, "It would have to begin after the year 9999.")
    plan.refused.update(link.order for link in placed.refused + placed.beyond)
    ended = _apply_ends(list(placed.links), plan.ends.get(key, []), options.now)
    for link, reason in ended:
        if link.id in there:
            _change_stored(plan, there[link.id], link, reason)
        else:
            plan.links[link.id] = link
            plan.reasons[link.id] = reason
            if link.id in known:
                _change_stored(plan, known[link.id], link, reason)


def _stored_link(one: Drawer) -> Link:
    return Link(one.id, one.valid_from, one.valid_to, one.created_at, 0, one.closed_at, True)


def _again(plan: Plan, link: Link, stored: Drawer | None) -> Link:
    """A row that was filed before, perhaps by a run that was cut short."""
    if stored is None:
        return link
    begun = stored.valid_from if link.id in plan.timeless else link.valid_from
    return replace(link, valid_from=begun, created_at=stored.created_at, stored=True)


def _apply_ends(
    links: list[Link], ends: list[tuple[int, str | None]], now: int
) -> list[tuple[Link, str | None]]:
    """Rows that only end something: the version that was open at that instant."""
    reasons: dict[str, str | None] = {}
    for at, reason in sorted(ends):
        for place_, link in enumerate(links):
            open_then = link.valid_from < at and (link.valid_to is None or link.valid_to > at)
            if open_then:
                links[place_] = replace(link, valid_to=at, closed_at=now)
                reasons[link.id] = reason
    return [(link, reasons.get(link.id)) for link in links]


def _change_stored(plan: Plan, stored: Drawer, link: Link, reason: str | None) -> None:
    """A drawer of the palace gets an end or a successor: with the row that brings it."""
    if link.valid_to is not None and (
        link.valid_to != stored.valid_to or (link.after and link.after not in stored.superseded_by)
    ):
        end = End(stored.id, link.valid_to, link.closed_at or 0, link.after, reason)
        if link.after in plan.links:
            plan.stored_ends[link.after] = end
        else:
            plan.loose_ends.append(end)
    if link.before and link.before not in stored.supersedes:
        plan.stored_links.setdefault(link.before, []).append((stored.id, link.before))
