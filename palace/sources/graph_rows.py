"""Entities, mentions and facts of an import."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from palace.domain.errors import InvalidInput, PalaceError
from palace.domain.records import Drawer, check_text, derived_id
from palace.sources.report import ImportReport
from palace.sources.rows import fold, instant, mapping, optional, text
from palace.store import importing
from palace.store.connection import Store
from palace.store.rows import entity_id, entity_ref, fact_ref, moment, stored

BATCH = 500


class GraphRows:
    """Collects graph rows and writes them after the drawers they refer to."""

    def __init__(self, store: Store, now: int, report: ImportReport, *, dry_run: bool) -> None:
        self._store, self._now, self._report, self._dry_run = store, now, report, dry_run
        self._entities: dict[str, dict[str, Any]] = {}
        self._mentions: list[tuple[int, dict[str, Any]]] = []
        self._facts: list[tuple[int, dict[str, Any]]] = []

    def take(self, kind: str, line: int, row: dict[str, Any]) -> None:
        """Check and keep a row; a bad one is refused with its line."""
        try:
            if kind == "entity":
                self._keep(_entity(row))
            else:
                (self._mentions if kind == "mention" else self._facts).append((line, row))
        except PalaceError as error:
            self._report.refuse(line, error.message)

    def finish(self) -> None:
        """Write everything that was taken."""
        mentions = self._resolve(self._mentions, self._mention)
        facts = self._resolve(self._facts, self._fact)
        self._report.filed["entity"] += len(self._entities)
        self._report.filed["mention"] += len(mentions)
        self._report.filed["fact"] += len(facts)
        if self._dry_run:
            return
        entities = list(self._entities.values())
        for start in range(0, len(entities), BATCH):
            importing.write_entities(self._store, entities[start : start + BATCH], self._now)
        pairs = [pair for listed in mentions for pair in listed]
        for start in range(0, len(pairs), BATCH):
            importing.write_mentions(self._store, pairs[start : start + BATCH])
        for start in range(0, len(facts), BATCH):
            importing.write_facts(self._store, facts[start : start + BATCH])

    def _keep(self, entity: dict[str, Any]) -> None:
        self._entities[str(entity["id"].id)] = entity

    def _resolve(self, rows: list[tuple[int, dict[str, Any]]], read: Any) -> list[Any]:
        """Read rows that name drawers by id or key; what cannot be read is refused."""
        names = {str(row.get("drawer") or row.get("evidence") or "") for _, row in rows} - {""}
        drawers: dict[str, list[Drawer]] = {}
        for one in importing.versions_of(self._store, sorted(names)):
            drawers.setdefault(one.key or "", []).append(one)
        there = importing.existing(self._store, sorted(names))
        result = []
        for line, row in rows:
            try:
                result.append(read(row, drawers, there))
            except PalaceError as error:
                self._report.refuse(line, error.message)
        return result

    def _mention(
        self, row: dict[str, Any], drawers: dict[str, list[Drawer]], there: Collection[str]
    ) -> list[tuple[str, str, int]]:
        """A key stands for all of its versions."""
        named = text(row, "drawer")
        idents = [named] if named in there else [one.id for one in drawers.get(named, ())]
        if not idents and not self._dry_run:
            raise InvalidInput(f"There is no drawer with the id or key “{named}”.")
        entity = self._endpoint(text(row, "entity"), text(row, "kind"))
        at = instant(row, "created_at", self._now)
        assert at is not None
        return [(ident, entity, at) for ident in idents]

    def _endpoint(self, name: str, kind: str) -> str:
        """An entity's id; one that no row described is created with its name alone."""
        ident = entity_id(name, kind)
        if ident not in self._entities:
            self._keep(_entity({"name": name, "kind": kind}))
        return ident

    def _fact(
        self, row: dict[str, Any], drawers: dict[str, list[Drawer]], there: Collection[str]
    ) -> dict[str, Any]:
        subject = self._endpoint(text(row, "subject"), _kind_of(row, "subject"))
        target = self._endpoint(text(row, "object"), _kind_of(row, "object"))
        predicate = text(row, "predicate")
        valid_from, valid_to = (
            instant(row, "valid_from", self._now),
            instant(row, "valid_to", None),
        )
        created_at = instant(row, "created_at", self._now)
        closed_at = instant(row, "closed_at", self._now if valid_to is not None else None)
        assert valid_from is not None
        assert created_at is not None
        written = str(row.get("valid_from") or "")
        ident = optional(row, "id") or derived_id("fact", subject, predicate, target, written)
        return {
            "id": fact_ref(ident),
            "in": entity_ref(subject),
            "out": entity_ref(target),
            "predicate": predicate,
            "confidence": _confidence(row),
            "valid_from": stored(valid_from),
            "valid_to": moment(valid_to),
            "created_at": stored(created_at),
            "closed_at": moment(closed_at),
            "provenance": _evidence(row, drawers, there, valid_from),
        }


def check_graph_row(kind: str, row: dict[str, Any], now: int) -> None:
    """Refuse what could not be filed, whatever the palace holds."""
    if kind == "entity":
        _entity(row)
        return
    names = ("created_at",) if kind == "mention" else ("valid_from", "valid_to", "created_at")
    for name in (*names, "closed_at"):
        instant(row, name, now)
    if kind == "mention":
        check_text("drawer", text(row, "drawer"))
        _entity({"name": row.get("entity"), "kind": row.get("kind")})
        return
    for end in ("subject", "object"):
        _entity({"name": text(row, end), "kind": _kind_of(row, end)})
    check_text("predicate", text(row, "predicate"))
    optional(row, "id")
    optional(row, "evidence")
    _confidence(row)


def _entity(row: dict[str, Any]) -> dict[str, Any]:
    name, kind = check_text("name", text(row, "name")), check_text("kind", text(row, "kind"))
    aliases = row.get("aliases") or []
    if not isinstance(aliases, list) or not all(isinstance(one, str) for one in aliases):
        raise InvalidInput("“aliases” is a list of names.")
    aliases = [check_text("alias", one) for one in aliases]
    return {
        "id": entity_ref(entity_id(name, kind)),
        "name": name,
        "kind": kind,
        "key": fold(name),
        "aliases": aliases,
        "names": sorted({one.casefold() for one in (name, *aliases)}),
        "properties": mapping(row, "properties"),
    }


def _kind_of(row: dict[str, Any], end: str) -> str:
    return optional(row, f"{end}_kind") or "other"


def _confidence(row: dict[str, Any]) -> float:
    value = row.get("confidence", 1)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise InvalidInput("“confidence” is a number from 0 to 1.")
    return float(value)


def _evidence(
    row: dict[str, Any], drawers: dict[str, list[Drawer]], there: Collection[str], at: int
) -> dict[str, Any]:
    """The drawer that says so: by id, or the version of a key that held when the fact began."""
    named = optional(row, "evidence")
    if named is None:
        return {}
    if named in there or named not in drawers:
        return {"drawers": [named]}
    versions = sorted(drawers[named], key=lambda one: one.valid_from)
    begun = [one for one in versions if one.valid_from <= at]
    return {"drawers": [(begun[-1] if begun else versions[0]).id]}
