"""CurationService: every write of drawers. Memory is superseded, never edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from palace.domain.errors import Conflict, InvalidInput, NotFound, Notice
from palace.domain.records import (
    Drawer,
    Room,
    Wing,
    check_content,
    check_kind,
    check_tags,
    check_text,
    content_hash,
    new_id,
)
from palace.domain.results import AuthContext
from palace.domain.time import MAX_INSTANT, print_instant
from palace.store import drawers, places
from palace.store.connection import Store

WRITE = "supersede"


@dataclass(frozen=True)
class NewDrawer:
    """What a person or program wants to file. ``valid_from`` None means now."""

    wing: str
    room: str
    content: str
    name: str | None = None
    tags: Sequence[str] = ()
    source: dict[str, Any] = field(default_factory=lambda: {"kind": "manual"})
    valid_from: int | None = None
    requested_by: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What a write did: the drawer that stands now, the one it closed, and what was told."""

    drawer: Drawer
    created: bool = True
    closed: Drawer | None = None
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class CurationService:
    """Writes over one palace. ``clock`` gives the present instant in microseconds."""

    store: Store
    clock: Callable[[], int]
    actor: str = "anonymous"

    def authorized(self, auth: AuthContext) -> CurationService:
        """This service in the name of the context, if it may write; Unauthorized otherwise."""
        auth.require(WRITE)
        return CurationService(self.store, self.clock, auth.actor)

    def ensure_wing(self, name: str, description: str | None = None) -> bool:
        """Create or find a wing; True when it is new."""
        return places.ensure_wing(
            self.store, Wing(check_text("wing", name), description, self.clock())
        )

    def ensure_room(self, wing: str, name: str, description: str | None = None) -> bool:
        """Create or find a room (and its wing); True when it is new."""
        room = Room(check_text("wing", wing), check_text("room", name), description, self.clock())
        return places.ensure_room(self.store, room)

    def file_drawer(self, wanted: NewDrawer) -> Outcome:
        """File a new drawer. The same unnamed text in the same room is not stored twice (told).

        Raises InvalidInput, or Conflict `drawer_name_taken`.
        """
        now = self.clock()
        drawer = Drawer(
            id=new_id(),
            wing=check_text("wing", wanted.wing),
            room=check_text("room", wanted.room),
            name=check_text("name", wanted.name) if wanted.name is not None else None,
            content=check_content(wanted.content),
            content_hash=content_hash(wanted.content),
            tags=check_tags(wanted.tags),
            source=check_kind(wanted.source),
            provenance={"requested_by": wanted.requested_by or self.actor},
            valid_from=now if wanted.valid_from is None else wanted.valid_from,
            created_at=now,
        )
        created, ident = drawers.file(self.store, drawer)
        return Outcome(self._read(ident), created, None, () if created else (_twin(ident),))

    def supersede(
        self,
        ident: str,
        content: str,
        *,
        tags: Sequence[str] | None = None,
        reason: str | None = None,
        at: int | None = None,
        seen: int | None = None,
        requested_by: str | None = None,
    ) -> Outcome:
        """Replace a drawer: the old one ends and the new one begins at one instant.

        ``at`` must lie after the old one's beginning and not after now; None is now (or just
        after the beginning when the clock runs behind: told). ``seen`` is the ``updated_at`` the
        caller looked at. Conflicts: drawer_superseded, drawer_ended, drawer_changed,
        not_after_valid_from.
        """
        old, now = self._read(ident), self.clock()
        self._check_instant(old, at, now)
        new = Drawer(
            id=new_id(),
            wing=old.wing,
            room=old.room,
            name=old.name,
            content=check_content(content),
            content_hash=content_hash(content),
            tags=old.tags if tags is None else check_tags(tags),
            source=old.source,
            provenance={"requested_by": requested_by or self.actor},
            valid_from=now,
            created_at=now,
            supersedes=(ident,),
            key=old.key,
        )
        closing = drawers.Closing(ident, now, at, seen, reason or None)
        instant = drawers.supersede(self.store, closing, old, new)
        told = _moved(instant, now)
        return Outcome(self._read(new.id), True, self._read(ident), told)

    def invalidate(
        self,
        ident: str,
        *,
        reason: str | None = None,
        at: int | None = None,
        seen: int | None = None,
    ) -> Outcome:
        """End a drawer without a replacement, under the same rules as `supersede`."""
        old, now = self._read(ident), self.clock()
        self._check_instant(old, at, now)
        closing = drawers.Closing(ident, now, at, seen, reason or None)
        instant = drawers.invalidate(self.store, closing, old)
        ended = self._read(ident)
        return Outcome(ended, False, ended, _moved(instant, now))

    def _read(self, ident: str) -> Drawer:
        drawer = drawers.get(self.store, ident)
        if drawer is None:
            raise NotFound(f"There is no drawer “{ident}”.", help="Search for it by its words.")
        return drawer

    def _check_instant(self, old: Drawer, at: int | None, now: int) -> None:
        if old.valid_from == MAX_INSTANT:
            raise Conflict(
                "This version begins at the last instant of the calendar: none lies after it.",
                code="memcastle::palace::not_after_valid_from",
                help="File a drawer of its own.",
            )
        if at is not None and at > now:
            raise InvalidInput(
                f"The instant {print_instant(at)} lies in the future.",
                help="Give an instant after the version began and not after now.",
            )


def _moved(instant: int, now: int) -> tuple[Notice, ...]:
    """Told when the clock ran behind the version's beginning."""
    if instant <= now:
        return ()
    return (
        Notice(
            "memcastle::palace::clock_behind",
            f"The clock runs behind this version; it ends at {print_instant(instant)}.",
        ),
    )


def _twin(ident: str) -> Notice:
    return Notice("memcastle::palace::already_filed", f"The same text is there already: {ident}.")


__all__ = ["Conflict", "CurationService", "NewDrawer", "Outcome"]
