"""What hypothesis draws: questions over the planted world, with instants at its boundaries."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.oracle import (
    AGENTS,
    BRANCHES,
    INSTANTS,
    KINDS,
    PATHS,
    PROJECTS,
    ROOMS,
    TAGS,
    WINGS,
    WORDS,
    Question,
)

boundaries = st.builds(
    lambda instant, step: instant + step, st.sampled_from(INSTANTS), st.sampled_from((-1, 0, 1))
)


def _maybe(values: tuple[str | None, ...]) -> st.SearchStrategy[str | None]:
    """Mostly nothing: a scope of every clause at once is nearly always empty."""
    named = [value for value in values if value is not None]
    return st.one_of(st.none(), st.none(), st.sampled_from([*named, "nowhere"]))


@st.composite
def times(draw: st.DrawFn) -> dict[str, int | None]:
    """An instant, a window or history; known at some instant or not."""
    known = draw(st.one_of(st.none(), boundaries))
    choice = draw(st.sampled_from(("at", "window", "history")))
    if choice == "at":
        return {"at": draw(boundaries), "known_at": known}
    if choice == "history":
        return {"known_at": known}
    start, until = sorted((draw(boundaries), draw(boundaries)))
    return {"start": start, "until": max(until, start + 1), "known_at": known}


@st.composite
def places(draw: st.DrawFn) -> dict[str, object]:
    """All clauses but time."""
    return {
        "wing": draw(_maybe(WINGS)),
        "room": draw(_maybe(ROOMS)),
        "tags": tuple(draw(st.lists(st.sampled_from(TAGS), max_size=2, unique=True))),
        "source_kind": draw(_maybe(KINDS)),
        "project": draw(_maybe(PROJECTS)),
        "branch": draw(_maybe(BRANCHES)),
        "path": draw(_maybe((*PATHS, "src", "docs/deep"))),
        "agent": draw(_maybe(AGENTS)),
        "stale": draw(st.sampled_from(("hide", "include", "only"))),
    }


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """A time and a place."""
    return Question(**draw(times()), **draw(places()))  # type: ignore[arg-type]


words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
