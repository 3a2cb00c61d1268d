"""Files rows of the JSON lines format: checks, places chains, writes batches.

An import may be killed at any point and run again: ids are derived from the rows, what is there
already is left alone, and every batch is one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from palace.domain.records import Drawer, Wing
from palace.sources.graph_rows import GraphRows
from palace.sources.planning import Numbered, Options, Plan, first_reading
from palace.sources.report import ImportReport
from palace.sources.rows import DrawerRow, read_drawer_row, read_mined, read_place, type_of
from palace.store import importing, places
from palace.store.connection import Store
from palace.store.importing import End

BATCH_ROWS = 500
BATCH_BYTES = 2_000_000


def import_rows(
    store: Store,
    read: Callable[[], Iterable[Numbered]],
    options: Options,
    report: ImportReport,
    progress: Callable[[int], None] = lambda number: None,
) -> ImportReport:
    """File all rows that ``read()`` gives; it is read twice and must give the same each time.

    The first reading places the versions of each key in time, the second writes.
    """
    plan = first_reading(store, read(), options, report)
    _write(store, read(), plan, options, report, progress)
    return report


def _write(
    store: Store,
    rows: Iterable[Numbered],
    plan: Plan,
    options: Options,
    report: ImportReport,
    progress: Callable[[int], None],
) -> None:
    graph = GraphRows(store, options.now, report, dry_run=options.dry_run)
    written: set[str] = set()
    # Ends first: they free the names that rows of this very import may take.
    _write_loose(store, plan.loose_ends, options, report)
    for batch in _batches(rows, plan):
        fresh: list[DrawerRow] = []
        for line, row in batch:
            kind = "?" if line in plan.refused else type_of(row)
            if kind in ("wing", "room"):
                _write_place(store, kind, row, options, report)
            elif kind in ("entity", "mention", "fact"):
                graph.take(kind, line, row)
            elif kind == "drawer":
                read = read_drawer_row(row, line, options.now)
                if read.drawer.id not in written:
                    written.add(read.drawer.id)
                    fresh.append(read)
        _write_drawers(store, fresh, plan, options, report)
        for line, row in batch:
            if line not in plan.refused and type_of(row) == "mined" and not options.dry_run:
                importing.set_mined(store, *read_mined(row), options.now)
        progress(len(batch))
    graph.finish()


def _batches(rows: Iterable[Numbered], plan: Plan) -> Iterator[list[Numbered]]:
    """At most 500 rows and 2 MB of text each."""
    batch: list[Numbered] = []
    size = 0
    for line, row in rows:
        content = row.get("content") if isinstance(row, dict) else None
        weight = len(content) if isinstance(content, str) else 0
        if batch and (len(batch) >= BATCH_ROWS or size + weight > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((line, row))
        size += weight
    if batch:
        yield batch


def _write_drawers(
    store: Store,
    fresh: list[DrawerRow],
    plan: Plan,
    options: Options,
    report: ImportReport,
) -> None:
    there = importing.existing(store, (one.drawer.id for one in fresh))
    for one in fresh:
        if there.get(one.drawer.id, one.drawer.content_hash) != one.drawer.content_hash:
            report.refuse(one.line, f"The id “{one.drawer.id}” is that of another text here.")
            report.there["drawer"] -= 1
    report.there["drawer"] += len(there)
    rows = [
        replace(one, drawer=_as_placed(one.drawer, plan))
        for one in fresh
        if one.drawer.id not in there
    ]
    ends = [plan.stored_ends[one.drawer.id] for one in fresh if one.drawer.id in plan.stored_ends]
    rows = _without_taken_names(store, rows, {end.id for end in ends}, report, options)
    links = [pair for one in rows for pair in plan.stored_links.get(one.drawer.id, ())]
    report.filed["drawer"] += len(rows)
    report.closed += len(ends) + sum(one.drawer.valid_to is not None for one in rows)
    if (rows or ends) and not options.dry_run:
        drawers = [one.drawer for one in rows]
        importing.write_batch(store, drawers, ends, options.now, links)


def _as_placed(drawer: Drawer, plan: Plan) -> Drawer:
    """The drawer with its place in its chain; a closed one has given up its name."""
    link = plan.links[drawer.id]
    closed = link.valid_to is not None
    return replace(
        drawer,
        valid_from=link.valid_from,
        valid_to=link.valid_to,
        closed_at=link.closed_at if closed else None,
        name=None if closed else drawer.name,
        former_name=(drawer.former_name or drawer.name) if closed else drawer.former_name,
        supersedes=drawer.supersedes or ((link.before,) if link.before else ()),
        superseded_by=drawer.superseded_by or ((link.after,) if link.after else ()),
        close_reason=drawer.close_reason or plan.reasons.get(drawer.id),
    )


def _without_taken_names(
    store: Store,
    rows: list[DrawerRow],
    closing: set[str],
    report: ImportReport,
    options: Options,
) -> list[DrawerRow]:
    """Refuse rows whose name another open drawer of the room holds."""
    wanted = [
        (one.drawer.wing, one.drawer.room, one.drawer.name) for one in rows if one.drawer.name
    ]
    held = {
        place_: ident
        for place_, ident in importing.holders(store, wanted).items()
        if ident not in closing
    }
    kept = []
    for one in rows:
        drawer = one.drawer
        name = (drawer.wing, drawer.room, drawer.name or "")
        if drawer.name and held.get(name, drawer.id) != drawer.id:
            report.refuse(one.line, f"Another drawer of its room holds the name “{drawer.name}”.")
            continue
        if drawer.name:
            held[name] = drawer.id
        kept.append(one)
    return kept


def _write_loose(store: Store, ends: list[End], options: Options, report: ImportReport) -> None:
    """Ends of stored drawers that no row of a batch brought."""
    report.closed += len(ends)
    for start in range(0, 0 if options.dry_run else len(ends), BATCH_ROWS):
        importing.write_batch(store, [], ends[start : start + BATCH_ROWS], options.now)


def _write_place(
    store: Store, kind: str, row: dict[str, Any], options: Options, report: ImportReport
) -> None:
    place = read_place(row, options.now)
    said = row.get("created_at") is not None
    if options.dry_run:
        new = True
    elif isinstance(place, Wing):
        new = places.ensure_wing(store, place, overwrite=said)
    else:
        new = places.ensure_room(store, place, overwrite=said)
    (report.filed if new else report.there)[kind] += 1
