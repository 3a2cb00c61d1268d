"""Follows the files of a first-parent line: which chain each belongs to, and when it changed.

Only the raw log is needed, so the whole line is walked on every run and a chain has the same key
and the same times in each of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from palace.domain.records import MAX_NAME_CHARS
from palace.domain.time import MIN_INSTANT
from palace.sources.git_log import Change, Commit
from palace.sources.skip import ENVIRONMENT_MARK, path_reason, printable

_LINK, _MODULE = "120000", "160000"
_MODE_REASONS = {_LINK: "symlink", _MODULE: "submodule"}


@dataclass(frozen=True)
class Version:
    """A file as one commit left it; ``barred`` is the reason its path or mode gives."""

    path: str
    blob: str
    mode: str
    barred: str | None

    def is_like(self, other: Version) -> bool:
        """Whether only the permissions may differ."""
        return (self.path, self.blob, self.barred) == (other.path, other.blob, other.barred)


@dataclass
class Chain:
    """One file through its renames. ``shown`` tells whether its version is open in the palace;

    None while nobody has looked at the blob.
    """

    key: str
    version: Version
    last: int
    shown: bool | None = None


@dataclass(frozen=True)
class Event:
    """What happened to a chain; ``after`` is None for a deletion."""

    chain: Chain
    before: Version | None
    after: Version | None
    at: int
    is_stepped: bool
    is_rename: bool = False


@dataclass
class Line:
    """The files of a first-parent line after the commits taken so far."""

    prefix: str
    chains: dict[str, Chain] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)  # key -> when its file was deleted
    freed: dict[str, int] = field(default_factory=dict)  # path -> when it last became free
    environments: set[str] = field(default_factory=set)

    def take(self, commit: Commit) -> Iterator[Event]:
        """Deletions first, then renames, then the rest, so that a path is free when taken.

        To be read to its end: each event changes the line as it is given.
        """
        self._mark_environments(commit)
        parts: tuple[tuple[str, Callable[[Commit, Change], Event | None]], ...] = (
            ("D", self._delete),
            ("R", self._rename),
            ("ACMT", self._change),
        )
        for statuses, act in parts:
            for change in commit.changes:
                if change.status in statuses and (event := act(commit, change)):
                    yield event

    def _mark_environments(self, commit: Commit) -> None:
        for change in commit.changes:
            folder, _, name = change.target.rpartition("/")
            if name == ENVIRONMENT_MARK and folder and change.status != "D":
                self.environments.add(folder)

    def _delete(self, commit: Commit, change: Change) -> Event | None:
        chain = self.chains.pop(change.path, None)
        if chain is None:
            return None
        at = max(commit.at, chain.last + 1)
        self.gone[chain.key] = self.freed[change.path] = chain.last = at
        return Event(chain, chain.version, None, at, at != commit.at)

    def _rename(self, commit: Commit, change: Change) -> Event | None:
        chain = self.chains.pop(change.path, None)
        if chain is None:
            return self._change(commit, change)
        event = self._move(chain, commit, change, is_rename=True)
        self.freed[change.path] = event.at
        return event

    def _change(self, commit: Commit, change: Change) -> Event | None:
        chain = self.chains.get(change.target)
        if chain is None:
            return self._begin(commit, change)
        after = self._version(change)
        if after.is_like(chain.version):
            chain.version = after  # only the permissions changed
            return None
        return self._move(chain, commit, change, is_rename=False)

    def _begin(self, commit: Commit, change: Change) -> Event:
        version = self._version(change)
        at = max(commit.at, self.freed.get(version.path, MIN_INSTANT))
        chain = Chain(self._key(version.path, commit.sha), version, at)
        self.chains[version.path] = chain
        return Event(chain, None, version, at, at != commit.at)

    def _move(self, chain: Chain, commit: Commit, change: Change, *, is_rename: bool) -> Event:
        before, after = chain.version, self._version(change)
        free = self.freed.get(after.path, MIN_INSTANT) if is_rename else MIN_INSTANT
        at = max(commit.at, chain.last + 1, free)
        chain.version, chain.last = after, at
        self.chains[after.path] = chain
        return Event(chain, before, after, at, at != commit.at, is_rename)

    def _version(self, change: Change) -> Version:
        barred = path_reason(change.target, self.environments) or _MODE_REASONS.get(change.mode)
        return Version(change.target, change.blob, change.mode, barred)

    def _key(self, path: str, sha: str) -> str:
        key = f"{self.prefix}{printable(path)}@{sha[:12]}"
        if len(key) <= MAX_NAME_CHARS:
            return key
        return f"{self.prefix}{hashlib.sha256(key.encode()).hexdigest()}@{sha[:12]}"


def switch(old: Line, line: Line, at: int) -> Iterator[Event]:
    """What happens to the files when the branch leaves ``old`` for ``line``, their common past.

    Ends come first. Chains of ``line`` go on after the last instant they had on ``old``.
    """
    former = {chain.key: chain for chain in old.chains.values()}
    kept = {chain.key for chain in line.chains.values()}
    for chain in former.values():
        if chain.key not in kept:
            end = max(at, chain.last + 1)
            line.freed[chain.version.path] = line.gone[chain.key] = end
            yield Event(chain, chain.version, None, end, end != at)
    for chain in line.chains.values():
        before = former.get(chain.key)
        chain.last = max(chain.last, before.last if before else old.gone[chain.key])
        if before is None or not before.version.is_like(chain.version):
            begin = max(at, chain.last + 1, line.freed.get(chain.version.path, MIN_INSTANT))
            chain.last = begin
            former_version = before.version if before else None
            yield Event(chain, former_version, chain.version, begin, begin != at)
