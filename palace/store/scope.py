"""The one scope: a WHERE fragment that every reader uses, built here and nowhere else.

Lists, counts, facets, search, graph and timeline all ask with this text, inside the database,
before ranking and before the limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from palace.domain.query import Scope
from palace.domain.time import Temporal
from palace.store.rows import room_ref, stored, wing_ref


@dataclass(frozen=True)
class Fragment:
    """SurrealQL for a WHERE, and the values it binds."""

    sql: str
    variables: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Branches:
    """What is known of branches: per project the living ones. An unknown project hides nothing."""

    projects: tuple[str, ...] = ()
    living: tuple[str, ...] = ()  # "project\n branch" pairs as one string each


def pair(project: str, branch: str) -> str:
    """One comparable string for a branch of a project."""
    return f"{project}\n{branch}"


def fragment(scope: Scope, branches: Branches | None = None) -> Fragment:
    """The whole scope as one fragment; `true` when nothing is asked."""
    clauses: list[str] = []
    bound: dict[str, Any] = {}
    for clause, values in (
        *_places(scope),
        *_time(scope.time),
        *_source(scope),
        *_entities(scope),
        *_stale(scope, branches or Branches()),
    ):
        clauses.append(clause)
        bound.update(values)
    return Fragment(" AND ".join(clauses) or "true", bound)


Clauses = Iterable[tuple[str, dict[str, Any]]]


def _places(scope: Scope) -> Clauses:
    if scope.wing is not None and scope.room is not None:
        yield "room = $s_room", {"s_room": room_ref(scope.wing, scope.room)}
    elif scope.wing is not None:
        yield "wing = $s_wing", {"s_wing": wing_ref(scope.wing)}
    elif scope.room is not None:
        yield "room.name = $s_room", {"s_room": scope.room}
    if scope.tags:
        yield "tags CONTAINSALL $s_tags", {"s_tags": list(scope.tags)}


def _time(time: Temporal) -> Clauses:
    """Half-open validity on the first axis, what was recorded on the second."""
    if time.known_at is not None:
        yield "created_at <= $s_known", {"s_known": stored(time.known_at)}
    if time.start is None or time.end is None:
        return
    # An end written after `known_at` was not known then: the record still looked open.
    unknown = " OR closed_at > $s_known" if time.known_at is not None else ""
    if time.is_as_of:
        ends = "valid_to > $s_at"
        yield "valid_from <= $s_at", {"s_at": stored(time.start)}
    else:
        ends = "(valid_to > $s_at AND valid_to > valid_from)"
        yield (
            "valid_from < $s_until",
            {"s_at": stored(time.start), "s_until": stored(time.end)},
        )
    yield f"(valid_to IS NONE OR {ends}{unknown})", {}


def _source(scope: Scope) -> Clauses:
    if scope.source_kind is not None:
        yield "source.kind = $s_kind", {"s_kind": scope.source_kind}
    if scope.project is not None:
        yield "source.project = $s_project", {"s_project": scope.project}
    if scope.branch is not None:
        yield "source.branch = $s_branch", {"s_branch": scope.branch}
    if scope.agent is not None:
        yield "source.agent = $s_agent", {"s_agent": scope.agent}
    if scope.path is not None:
        folder = scope.path.rstrip("/") + "/"
        yield (
            "(source.path = $s_path OR string::starts_with(source.path ?? '', $s_folder))",
            {"s_path": scope.path, "s_folder": folder},
        )


def _entities(scope: Scope) -> Clauses:
    """A drawer mentions an entity of each name (or of any); names are folded of case.

    What was mentioned by ``known_at`` counts, not what was tied to it later.
    """
    # As a method it would flatten each entity's own names, not the list of lists.
    known = "" if scope.time.known_at is None else "WHERE created_at <= $s_known"
    linked = f"array::flatten(->(mentions {known})->entity.names)"
    if scope.entities and scope.entity_match == "any":
        names = [name.casefold() for name in scope.entities]
        yield f"{linked} CONTAINSANY $s_entities", {"s_entities": names}
    elif scope.entities:
        names = [name.casefold() for name in scope.entities]
        yield f"{linked} CONTAINSALL $s_entities", {"s_entities": names}


def _stale(scope: Scope, branches: Branches) -> Clauses:
    """A drawer of a branch that is gone from a known project is stale."""
    stale = (
        "(source.branch IS NOT NONE AND (source.project ?? '') IN $s_projects"
        " AND ((source.project ?? '') + '\\n' + (source.branch ?? '')) NOT IN $s_living)"
    )
    bound = {"s_projects": list(branches.projects), "s_living": list(branches.living)}
    if scope.stale == "only":
        yield stale, bound
    elif scope.stale == "hide" and branches.projects:
        yield f"!{stale}", bound
