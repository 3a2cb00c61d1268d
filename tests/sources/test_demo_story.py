"""The demo's story holds what the pages need to show: counted here without a database."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import pytest

from palace.domain.records import SOURCE_KINDS
from palace.domain.time import parse_instant
from palace.sources import demo
from palace.sources.rows import read_drawer_row

TODAY = parse_instant("2026-12-01")
FIRST, LAST = parse_instant("2025-05-20"), parse_instant("2026-11-26")
FAR = parse_instant("2099-01-01")
DAY = 86_400_000_000
Row = dict[str, Any]


@pytest.fixture(scope="module")
def story() -> list[Row]:
    return list(demo.rows())


@pytest.fixture(scope="module")
def drawers(story: list[Row]) -> list[Row]:
    return of_type(story, "drawer")


def of_type(story: list[Row], kind: str) -> list[Row]:
    return [row for row in story if row["type"] == kind]


def chains(drawers: list[Row]) -> dict[str, list[Row]]:
    """Versions by key, oldest first."""
    grouped: dict[str, list[Row]] = {}
    for row in drawers:
        grouped.setdefault(row["key"], []).append(row)
    return {key: sorted(versions, key=begins) for key, versions in grouped.items()}


def begins(row: Row) -> int:
    return parse_instant(row["valid_from"])


def spans(drawers: list[Row]) -> Iterator[tuple[Row, int, int | None]]:
    """Each drawer with the period in which it will be valid once it is imported."""
    for versions in chains(drawers).values():
        for row, after in zip(versions, [*versions[1:], None], strict=True):
            written = parse_instant(row["valid_to"]) if "valid_to" in row else None
            ends = [one for one in (written, begins(after) if after else None) if one is not None]
            yield row, begins(row), min(ends, default=None)


def test_rows_come_in_the_order_in_which_they_hold_each_other(story: list[Row]) -> None:
    kinds = [row["type"] for row in story]
    order = ["wing", "room", "entity", "drawer", "mention", "fact"]
    assert kinds == sorted(kinds, key=order.index)


def test_every_drawer_is_a_row_that_the_importer_takes_whole(drawers: list[Row]) -> None:
    read = [read_drawer_row(row, line, TODAY) for line, row in enumerate(drawers)]
    assert len({one.drawer.id for one in read}) == len(drawers)
    assert not any(one.unknown for one in read)


def test_rooms_and_wings_are_described_and_all_are_used(
    story: list[Row], drawers: list[Row]
) -> None:
    rooms = {(row["wing"], row["name"]) for row in of_type(story, "room")}
    assert len(of_type(story, "wing")) == 3
    assert len(rooms) >= 12
    assert {(row["wing"], row["room"]) for row in drawers} == rooms
    assert all(row["description"] for row in story if row["type"] in ("wing", "room"))


def test_there_are_enough_drawers_also_today(drawers: list[Row]) -> None:
    valid = [row for row, a, b in spans(drawers) if a <= TODAY and (b is None or b > TODAY)]
    assert len(drawers) >= 225
    assert len(valid) >= 155


def test_chains_are_long_and_short(drawers: list[Row]) -> None:
    lengths = Counter(len(versions) for versions in chains(drawers).values())
    assert sum((length - 1) * number for length, number in lengths.items()) >= 42
    assert lengths[7] == 1
    assert max(lengths) == 7
    assert lengths[3] >= 3
    assert lengths[4] >= 3


def test_a_chain_stays_in_its_room_and_is_learnt_in_its_order(drawers: list[Row]) -> None:
    for versions in chains(drawers).values():
        assert len({(row["wing"], row["room"]) for row in versions}) == 1
        for before, after in pairwise(versions):
            assert begins(before) < begins(after)
            assert parse_instant(before["created_at"]) < parse_instant(after["created_at"])


def test_some_knowledge_ended_without_a_replacement(drawers: list[Row]) -> None:
    ended = [v[-1] for v in chains(drawers).values() if "valid_to" in v[-1]]
    assert len(ended) >= 8
    assert all(row["close_reason"] for row in ended)


def test_one_chain_has_a_gap(drawers: list[Row]) -> None:
    gaps = [
        before["key"]
        for versions in chains(drawers).values()
        for before, after in pairwise(versions)
        if "valid_to" in before and parse_instant(before["valid_to"]) < begins(after)
    ]
    assert gaps == ["sn-reading"]


def test_one_drawer_lies_far_ahead_and_the_rest_in_eighteen_months(drawers: list[Row]) -> None:
    moments = sorted(begins(row) for row in drawers)
    assert moments.pop() == FAR
    assert moments[0] < FIRST + DAY
    assert LAST - 2 * DAY < moments[-1] < LAST


def test_dates_are_ordered(story: list[Row]) -> None:
    for row in story:
        created = parse_instant(row["created_at"]) if "created_at" in row else None
        if "valid_to" in row:
            assert begins(row) < parse_instant(row["valid_to"]) <= LAST
            assert created is not None
            assert parse_instant(row["closed_at"]) >= created
            assert parse_instant(row["closed_at"]) >= parse_instant(row["valid_to"])
        assert created is None or created < LAST


def test_some_things_were_learnt_late(drawers: list[Row]) -> None:
    late = [row for row in drawers if parse_instant(row["created_at"]) - begins(row) > DAY]
    early = [row for row in drawers if parse_instant(row["created_at"]) < begins(row)]
    assert 25 <= len(late) <= 50
    assert len(early) <= 3


def test_a_name_is_had_by_one_drawer_of_a_room_at_a_time(drawers: list[Row]) -> None:
    named: dict[tuple[str, str, str], list[tuple[int, int | None]]] = {}
    for row, start, end in spans(drawers):
        if "name" in row:
            named.setdefault((row["wing"], row["room"], row["name"]), []).append((start, end))
    for periods in named.values():
        for (a, b), (c, d) in combinations(periods, 2):
            assert (b is not None and b <= c) or (d is not None and d <= a)


def test_many_have_names_and_some_have_none(drawers: list[Row]) -> None:
    share = sum("name" in row for row in drawers) / len(drawers)
    assert 0.45 <= share <= 0.7


def test_tags_and_sources_are_various(drawers: list[Row]) -> None:
    tags = {tag for row in drawers for tag in row["tags"]}
    assert 20 <= len(tags) <= 40
    assert all(tag == tag.lower() for tag in tags)
    assert all(1 <= len(row["tags"]) <= 4 for row in drawers)
    kinds = {row["source"]["kind"] for row in drawers}
    assert kinds == set(SOURCE_KINDS)


@pytest.mark.parametrize("key", ["project", "branch", "path", "uri"])
def test_some_sources_say_where_they_lie(drawers: list[Row], key: str) -> None:
    assert sum(key in row["source"] for row in drawers) >= 3


@pytest.mark.parametrize("agent", ["quay", "ledger"])
def test_both_agents_keep_a_diary(drawers: list[Row], agent: str) -> None:
    entries = [row for row in drawers if row["source"].get("agent") == agent]
    assert sum(row["source"]["kind"] == "diary" for row in entries) >= 20


def test_a_transcript_is_long(drawers: list[Row]) -> None:
    told = [row["content"] for row in drawers if row["source"]["kind"] == "transcript"]
    assert max(len(text.encode()) for text in told) >= 30_720


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        (r"[\u3041-\u3096].*[\u3041-\u3096]", 10),
        (r"[\u0621-\u064a]{3}", 4),
        (r"Tomás.*(Zoë|Łukasz)|(Zoë|Łukasz).*Tomás", 3),
        (r"[Nn]aïve", 1),
        (r"Ærø", 2),
        (r"\u200d", 1),
        (r"c\+\+", 1),
        (r"\.env|--dry-run", 4),
        (r"\b[a-z]+_[a-z]+\b", 5),
        (r"```(python|sql|shell)", 10),
        (r"```csv", 2),
        (r"(?m)^\|---", 8),
        (r"(?m)^> ", 5),
        (r"(?m)^(1\.|- )", 5),
    ],
)
def test_texts_are_of_many_scripts_and_forms(drawers: list[Row], pattern: str, least: int) -> None:
    assert sum(bool(re.search(pattern, row["content"])) for row in drawers) >= least


def test_every_text_is_its_own(drawers: list[Row]) -> None:
    assert max(Counter(row["content"] for row in drawers).values()) == 1
    assert all(row["content"] == row["content"].strip() for row in drawers)


def test_entities_are_of_several_kinds_and_some_have_aliases(story: list[Row]) -> None:
    entities = of_type(story, "entity")
    assert 40 <= len(entities) <= 60
    kinds = {row["kind"] for row in entities}
    assert kinds >= {"person", "place", "system", "concept", "vessel", "organisation"}
    names = [name for row in entities for name in (row["name"], *row["aliases"])]
    assert any(re.search(r"[\u3041-\u9fff]", name) for name in names)
    assert len(names) >= len(entities) + 20


def test_mentions_refer_to_drawers_and_entities(story: list[Row], drawers: list[Row]) -> None:
    known = {(row["name"], row["kind"]) for row in of_type(story, "entity")}
    mentions = of_type(story, "mention")
    keys = set(chains(drawers))
    assert len(mentions) >= 250
    assert len({(row["drawer"], row["entity"], row["kind"]) for row in mentions}) == len(mentions)
    for row in mentions:
        assert row["drawer"] in keys
        assert (row["entity"], row["kind"]) in known
    assert {(row["entity"], row["kind"]) for row in mentions} == known


def test_facts_have_periods_and_evidence_that_is_there(
    story: list[Row], drawers: list[Row]
) -> None:
    known = {(row["name"], row["kind"]) for row in of_type(story, "entity")}
    facts, keys = of_type(story, "fact"), set(chains(drawers))
    assert len(facts) >= 60
    assert sum("valid_to" in row for row in facts) >= 18
    for row in facts:
        assert (row["subject"], row["subject_kind"]) in known
        assert (row["object"], row["object_kind"]) in known
        assert row.get("evidence", "one-timetable") in keys
        assert 0 < row["confidence"] <= 1
    assert sum("evidence" in row for row in facts) >= 50
    assert any(row["confidence"] < 1 for row in facts)
