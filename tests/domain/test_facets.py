"""Facet counts: a filter never removes its own alternatives."""

from __future__ import annotations

from palace.domain.facets import facets_of, is_relaxed, relaxed
from palace.domain.query import Scope
from palace.domain.results import Facet
from palace.domain.time import Temporal

NOW = Temporal.as_of(5)
ROWS = [
    ("atlas", "routes", "file", ("alpha",), "mapper", "main", 2),
    ("atlas", "crew", "note", ("alpha", "beta"), "mapper", None, 1),
    ("borealis", "routes", "file", (), None, None, 3),
]


def test_without_filters_everything_is_counted() -> None:
    found = facets_of(ROWS, Scope(NOW))
    assert found["wing"] == (Facet("atlas", 3), Facet("borealis", 3))
    assert found["tag"] == (Facet("alpha", 3), Facet("beta", 1))
    assert found["project"] == (Facet("mapper", 3),)
    assert found["branch"] == (Facet("main", 2),)


def test_a_branch_keeps_the_other_branches_and_narrows_the_rest() -> None:
    found = facets_of(ROWS, Scope(NOW, branch="main"))
    assert found["branch"] == (Facet("main", 2),)
    assert found["wing"] == (Facet("atlas", 2),)


def test_a_wing_keeps_the_other_wings_and_narrows_the_rest() -> None:
    found = facets_of(ROWS, Scope(NOW, wing="borealis"))
    assert found["wing"] == (Facet("atlas", 3), Facet("borealis", 3))
    assert found["room"] == (Facet("routes", 3, "borealis"),)
    assert found["tag"] == ()


def test_rooms_of_one_name_are_told_apart_by_wing() -> None:
    rooms = facets_of(ROWS, Scope(NOW))["room"]
    assert rooms == (
        Facet("routes", 3, "borealis"),
        Facet("routes", 2, "atlas"),
        Facet("crew", 1, "atlas"),
    )


def test_relaxing_drops_just_the_filters_that_have_facets() -> None:
    scope = Scope(NOW, wing="atlas", tags=("alpha",), project="mapper", agent="ada")
    assert relaxed(scope) == Scope(NOW, agent="ada")
    assert is_relaxed(relaxed(scope))
    assert not is_relaxed(scope)
