"""Filing rows of the JSON lines format into a real palace."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from palace.domain.errors import InvalidInput
from palace.domain.query import Scope
from palace.domain.time import Temporal, parse_instant, print_short
from palace.recall import RecallService
from palace.sources.export import export_rows
from palace.sources.importer import import_rows
from palace.sources.planning import Options
from palace.sources.report import ImportReport
from palace.store import graph
from palace.store.connection import Address, Store

NOW = parse_instant("2026-11-30T12:00:00Z")
HISTORY = Scope(Temporal.history(), stale="include")


@pytest.fixture
def palace():
    store = Store(Address("mem://"))
    yield store
    store.close()


def file(store: Store, rows: list[object], **options: object) -> ImportReport:
    numbered = list(enumerate(rows, 1))
    chosen = Options(now=int(options.pop("now", NOW)), **options)  # type: ignore[arg-type, call-overload]
    return import_rows(store, lambda: numbered, chosen, ImportReport())


def versions(store: Store) -> list[tuple[object, ...]]:
    hits = RecallService(store).list_all_with_content(HISTORY, 200).hits
    return [
        (
            hit.drawer.content,
            print_short(hit.drawer.valid_from),
            None if hit.drawer.valid_to is None else print_short(hit.drawer.valid_to),
            hit.drawer.name,
            hit.drawer.former_name,
        )
        for hit in reversed(hits)
    ]


def exported(store: Store) -> list[dict[str, object]]:
    return list(export_rows(store, HISTORY, NOW, {}))


def version(number: int, **more: object) -> dict[str, object]:
    return {
        "wing": "w",
        "room": "r",
        "key": "k",
        "name": "n",
        "content": f"text {number}",
        "valid_from": f"2026-01-{number + 1:02d}",
        **more,
    }


def test_rows_of_a_key_become_a_chain_whatever_their_order(palace):
    rows = [version(number) for number in range(4)]
    for order in ([2, 0, 3, 1], [0, 1, 2, 3]):
        file(palace, [rows[place] for place in order])
        assert versions(palace) == [
            ("text 0", "2026-01-01", "2026-01-02", None, "n"),
            ("text 1", "2026-01-02", "2026-01-03", None, "n"),
            ("text 2", "2026-01-03", "2026-01-04", None, "n"),
            ("text 3", "2026-01-04", None, "n", None),
        ]


def test_a_file_in_parts_gives_the_same_as_the_whole(palace):
    rows = [version(number, created_at="2026-11-01") for number in range(5)]
    file(palace, rows)
    parts = Store(Address("mem://"))
    file(parts, rows[:2])
    file(parts, rows[2:])
    again = [(row["id"], row["valid_from"], row.get("valid_to")) for row in drawers(parts)]
    assert again == [(row["id"], row["valid_from"], row.get("valid_to")) for row in drawers(palace)]


def drawers(store: Store) -> list[dict[str, object]]:
    return [row for row in exported(store) if row["type"] == "drawer"]


def test_importing_twice_changes_nothing(palace):
    rows = [version(number) for number in range(3)] + [{"wing": "w", "room": "r", "content": "one"}]
    file(palace, rows)
    before = exported(palace)
    report = file(palace, rows, now=NOW + 1)
    assert report.there["drawer"] == 4
    assert report.filed["drawer"] == 0
    assert exported(palace)[1:] == before[1:]


def test_an_early_file_again_after_a_later_one_is_there_already(palace):
    file(palace, [version(0), version(1)])
    file(palace, [version(2)])
    report = file(palace, [version(0), version(1)])
    assert not report.refused
    assert len(versions(palace)) == 3


def test_the_past_is_rewritten_only_when_asked(palace):
    file(palace, [version(3)])
    early = version(1)
    assert file(palace, [early]).refused[0][0] == 1
    file(palace, [early], rewrite=True)
    assert versions(palace)[0][:3] == ("text 1", "2026-01-02", "2026-01-04")


def test_a_gap_stays_and_an_overlap_is_cut(palace):
    report = file(
        palace,
        [
            version(0, valid_to="2026-01-01T12:00:00Z"),
            version(2, valid_to="2027-01-01"),
            version(5),
        ],
    )
    assert [row[2] for row in versions(palace)] == ["2026-01-01T12:00Z", "2026-01-06", None]
    assert report.cut == 1


def test_an_end_row_closes_the_open_version(palace):
    file(palace, [version(0), {"type": "end", "key": "k", "valid_to": "2026-02-01"}])
    assert versions(palace) == [("text 0", "2026-01-01", "2026-02-01", None, "n")]
    file(palace, [version(60, valid_from="2026-03-01")])
    assert [row[2] for row in versions(palace)] == ["2026-02-01", None]


def test_an_end_row_closes_a_stored_version(palace):
    file(palace, [version(0)])
    file(palace, [{"type": "end", "key": "k", "valid_to": "2026-02-01", "close_reason": "gone"}])
    (row,) = drawers(palace)
    assert (row["valid_to"], row["close_reason"]) == ("2026-02-01T00:00:00.000000Z", "gone")
    assert RecallService(palace).count(Scope(Temporal.as_of(NOW))) == 0


def test_an_end_frees_the_name_for_a_row_of_the_same_import(palace):
    file(palace, [version(0)])
    report = file(
        palace,
        [
            {"type": "end", "key": "k", "valid_to": "2026-02-01"},
            version(1, key="other", valid_from="2026-02-01"),
            {"type": "mined", "project": "p", "branch": "main", "commit": "abc"},
        ],
    )
    assert not report.refused
    assert [row[3] for row in versions(palace)] == [None, "n"]


def test_bad_lines_are_told_with_their_number_and_the_rest_goes_on(palace):
    rows = [
        {"wing": "w", "room": "r", "content": "good"},
        {"wing": "w", "room": "r"},
        {"wing": "w", "room": "r", "content": "x", "valid_from": "yesterday"},
        {"wing": "w", "room": "r", "content": "x", "source": {"kind": "dream"}},
        {"type": "dream"},
        ["list"],
        ValueError("no json"),
        {"wing": "w", "room": "r", "content": "x", "tags": "a"},
        {"wing": "w", "room": "r", "content": "x\x00"},
    ]
    report = file(palace, rows)
    assert report.filed["drawer"] == 1
    assert [line for line, _ in report.refused] == [2, 3, 4, 5, 6, 7, 8, 9]


def test_strict_stops_at_the_first_bad_line_and_writes_nothing(palace):
    with pytest.raises(InvalidInput, match="Line 2"):
        file(palace, [version(0), {"wing": "w"}], strict=True)
    assert versions(palace) == []


def test_a_dry_run_writes_nothing(palace):
    report = file(palace, [version(0)], dry_run=True)
    assert report.filed["drawer"] == 1
    assert versions(palace) == []


def test_a_name_that_another_drawer_holds_is_refused(palace):
    file(palace, [version(0)])
    report = file(palace, [version(1, key="other")])
    assert "holds the name" in report.refused[0][1]
    assert len(versions(palace)) == 1


def test_unknown_keys_are_kept_and_told(palace):
    report = file(palace, [version(0, mood="sunny")])
    assert report.unknown_keys == {"mood"}
    assert drawers(palace)[0]["source"] == {"extra": {"mood": "sunny"}, "kind": "other"}


def test_record_times_are_kept_when_given(palace):
    file(palace, [version(0, created_at="2026-01-05"), version(1, created_at="2026-01-09")])
    first = drawers(palace)
    times = sorted((row["created_at"], row.get("closed_at")) for row in first)
    assert times[0] == ("2026-01-05T00:00:00.000000Z", "2026-01-09T00:00:00.000000Z")


def test_mentions_and_facts_are_tied_to_drawers_by_key(palace):
    rows = [
        {"type": "mention", "drawer": "k", "entity": "Ada", "kind": "person"},
        {
            "type": "fact",
            "subject": "Ada",
            "subject_kind": "person",
            "predicate": "works at",
            "object": "Harbour",
            "evidence": "k",
            "valid_from": "2026-01-02",
        },
        {"type": "entity", "name": "Ada", "kind": "person", "aliases": ["A."]},
        version(0),
        version(1),
        {"type": "mention", "drawer": "nothing", "entity": "Ada", "kind": "person"},
    ]
    report = file(palace, rows)
    assert [line for line, _ in report.refused] == [6]
    found = drawers(palace)
    ada = [graph.mentioned(palace, str(row["id"])) for row in found]
    assert all(one[0].name == "Ada" and one[0].aliases == ("A.",) for one in ada)
    facts = graph.facts_about(palace, [ada[0][0].id], Temporal.as_of(NOW))
    assert [(one.predicate, one.object.name) for one in facts] == [("works at", "Harbour")]
    fact = next(row for row in exported(palace) if row["type"] == "fact")
    assert fact["evidence"] == next(row["id"] for row in found if row["content"] == "text 1")


def test_export_and_import_give_byte_equal_lines(palace):
    random_rows = random.Random(7)
    rows: list[dict[str, object]] = [
        version(
            day, key=f"k{key}", name=f"n{key}", tags=["α", "b"], source={"kind": "note", "z": 1}
        )
        for key, day in itertools.product(range(6), range(8))
        if random_rows.random() < 0.7
    ]
    rows += [
        {"type": "wing", "name": "w", "description": "日本"},
        {"type": "end", "key": "k1", "valid_to": "2026-05-01"},
        {"type": "mention", "drawer": "k2", "entity": "Ada", "kind": "person"},
        {
            "type": "fact",
            "subject": "Ada",
            "predicate": "p",
            "object": "B",
            "valid_to": "2027-01-01",
        },
    ]
    file(palace, rows)
    first = exported(palace)
    second = Store(Address("mem://"))
    report = file(second, json.loads(json.dumps(first)))
    assert not report.refused
    assert [json.dumps(row) for row in exported(second)[1:]] == [
        json.dumps(row) for row in first[1:]
    ]


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "wing", "name": ""},
        {"type": "wing", "name": "q", "description": 5},
        {"type": "room", "wing": "w"},
        {"type": "mined", "project": "p"},
        {"type": "entity", "name": "a", "kind": "k", "aliases": 5},
        {"type": "entity", "name": "a", "kind": "k", "aliases": "ab"},
        {"type": "mention", "drawer": "\ud800", "entity": "e", "kind": "k"},
        {"type": "fact", "subject": "a", "predicate": "p"},
        {"type": "fact", "subject": "a", "predicate": "p", "object": "b", "confidence": 7},
        {"wing": "w", "room": "r", "content": 5},
        {"wing": "w", "room": "r", "content": "x", "source": {"extra": 5}, "more": 1},
        {"wing": "w", "room": "r", "content": "x", "source": {"n": 10**30}},
        {"wing": "w", "room": "r", "content": "x", "source": {"branch": ["main"]}},
        {"wing": "w", "room": "r", "content": "x", "provenance": {"by": "\ud800"}},
        {"wing": "w", "room": "r", "content": "x", "supersedes": ["\ud800"]},
    ],
)
def test_a_bad_row_of_any_type_is_told_and_the_rest_is_filed(palace, bad):
    good = {"wing": "w", "room": "r", "content": "good"}
    with pytest.raises(InvalidInput, match="Line 2"):
        file(palace, [good, bad], strict=True)
    assert versions(palace) == []
    report = file(palace, [good, bad])
    assert [line for line, _ in report.refused] == [2]
    assert [row[0] for row in versions(palace)] == ["good"]
    assert [row for row in exported(palace) if row["type"] == "entity"] == []


def test_two_versions_of_the_last_instant_are_one_too_many(palace):
    last = "9999-12-31T23:59:59.999999Z"
    rows = [version(1, key="k", valid_from=last), version(2, key="k", valid_from=last)]
    assert [line for line, _ in file(palace, rows).refused] == [2]
    assert len(versions(palace)) == 1


def test_one_id_stands_for_one_text(palace):
    rows = [version(1, id="same"), version(2, id="same"), version(1, id="same")]
    assert [line for line, _ in file(palace, rows).refused] == [2]
    assert [row[0] for row in versions(palace)] == ["text 1"]
    again = file(palace, [version(2, id="same")])
    assert "another text" in again.refused[0][1]
    assert again.there["drawer"] == 0
    assert [row[0] for row in versions(palace)] == ["text 1"]
