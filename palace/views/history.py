"""The whole chain of a drawer: every version, who wrote it, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from palace.access import auth_context
from palace.domain.query import Scope
from palace.domain.records import Drawer
from palace.domain.time import Temporal
from palace.opening import recall
from palace.render.strip import strip
from palace.render.validity import Validity, lag_words, span_words, validity
from palace.views.drawer import require_drawer
from palace.views.shell import ask, render_page


@dataclass(frozen=True)
class Version:
    """One row of the page: a version, how it stands, and what changed since the one before."""

    drawer: Drawer
    number: int
    standing: Validity
    lasted: str
    lag: str | None
    growth: int | None
    moved: bool
    retagged: bool
    gap: str

    @property
    def actor(self) -> str | None:
        """Who it came from: the writer in the palace, else the source's agent."""
        who = self.drawer.provenance.get("requested_by") or self.drawer.source.get("agent")
        return str(who) if who else None


@require_safe
def history(request: HttpRequest, ident: str) -> HttpResponse:
    """All versions, oldest first. The instant marks what was true then; it hides nothing."""
    asked = ask(request)
    reads = recall().authorized(auth_context(request))
    found = require_drawer(reads, ident)
    chain = reads.chain(ident)
    time = asked.scope.time
    context = {
        "drawer": found,
        "chain": chain,
        "versions": versions_of(chain.versions, time, asked.now),
        "strip": strip(chain.versions, ident, time.instant, asked.now),
        "first": chain.versions[0],
        "last": chain.versions[-1],
    }
    place = Scope(time, wing=found.wing, room=found.room, asked_at=asked.now)
    return render_page(request, "palace/history.html", asked, context, bar_scope=place)


def versions_of(chain: tuple[Drawer, ...], time: Temporal, now: int) -> list[Version]:
    """The rows of a chain, each beside the one before."""
    rows = []
    before: Drawer | None = None
    for number, one in enumerate(chain, 1):
        rows.append(_row(one, number, before, time, now))
        before = one
    return rows


def _row(one: Drawer, number: int, before: Drawer | None, time: Temporal, now: int) -> Version:
    end = one.valid_to
    gap = before is not None and before.valid_to is not None and before.valid_to < one.valid_from
    return Version(
        drawer=one,
        number=number,
        standing=validity(one, time, now),
        lasted=span_words((now if end is None else end) - one.valid_from)
        if (now if end is None else end) > one.valid_from
        else "",
        lag=lag_words(one.valid_from, one.created_at),
        growth=one.size - before.size if before else None,
        moved=before is not None and (before.wing, before.room) != (one.wing, one.room),
        retagged=before is not None and before.tags != one.tags,
        gap=span_words(one.valid_from - (before.valid_to or 0)) if gap and before else "",
    )
