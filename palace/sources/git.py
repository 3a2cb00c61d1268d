"""A git repository with its whole history, as rows: every version of every text file.

The branch's first-parent line is read. A commit's time begins a version, the next version of the
same chain ends it, a deletion ends it without a successor, a rename continues it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from palace.sources.git_chains import Event, Line, Version, switch
from palace.sources.git_commands import Blobs, MineError, Repository
from palace.sources.git_log import Commit
from palace.sources.mining import MineOptions, MineReport, Row, drawer_row, end_row, mined_row
from palace.sources.skip import judge, printable

CHECKPOINT_COMMITS = 200


def is_repository(path: Path) -> bool:
    """Whether the path is a repository's top folder, or a bare repository."""
    bare = (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    return bare or (path / ".git").exists()


def branch_name(path: Path, branch: str | None) -> str:
    """The branch that will be read: the one asked for, else HEAD's; `HEAD` when detached."""
    return branch or Repository(path).current_branch()


def commit_count(path: Path, branch: str | None, since: str | None) -> int:
    """How many commits a run has to read; for the progress bar, so never a refusal of ``since``."""
    repository = Repository(path)
    head = repository.head(branch)
    if head is None:
        return 0
    known = since and repository.commit(since)
    without = [f"^{known}"] if known else []
    return int(repository.ask("rev-list", "--count", "--first-parent", head, *without))


def read_history(
    path: Path, options: MineOptions, since: str | None, report: MineReport
) -> Iterator[Row]:
    """Rows of all commits after ``since``, in commit order, with checkpoints between them."""
    repository = Repository(path)
    head = repository.head(options.branch)
    branch = options.branch or repository.current_branch()
    if head is None:
        report.notes.append(f"The branch {branch} has no commits yet.")
    if head is None or head == since:
        return
    _tell_limits(repository, branch, report)
    base = _resume(repository, head, branch, since, options)
    with Blobs(repository) as blobs:
        yield from _Reading(repository, options, branch, blobs, report).rows(head, base, since)


def _tell_limits(repository: Repository, branch: str, report: MineReport) -> None:
    if branch == "HEAD":
        report.notes.append("No branch is checked out: filed under the branch name HEAD.")
    if repository.ask("rev-parse", "--is-shallow-repository") == "true":
        report.notes.append("The clone is shallow: its history begins at the oldest commit here.")


def _resume(
    repository: Repository, head: str, branch: str, since: str | None, options: MineOptions
) -> str | None:
    """The newest commit of the line whose files are filed; None when there is none."""
    if since is None:
        return None
    line = repository.first_parents(head)
    if since in line:
        return since
    if repository.commit(since) is None:
        raise _no_ancestor(since, branch, "is no longer in the repository", is_there=False)
    if not options.from_merge_base:
        beside = repository.is_ancestor(since, head)
        why = "reached it through a merge only" if beside else "is no ancestor of its head"
        raise _no_ancestor(since, branch, why, is_there=True)
    old = set(repository.first_parents(since))
    return next((commit for commit in line if commit in old), None)


def _no_ancestor(since: str, branch: str, why: str, *, is_there: bool) -> MineError:
    again = "Run again with --from-merge-base to go on from where the two histories parted."
    lost = "--from-merge-base needs that commit: fetch it, or file under another --project."
    return MineError(
        f"The last mined commit {since[:12]} of {branch} {why}.",
        code="memcastle::mine::not_an_ancestor",
        help=again if is_there else lost,
        status=409,
    )


def _pass(line: Line, commit: Commit) -> None:
    """Follow a commit whose rows nobody wants."""
    for _ in line.take(commit):
        pass


@dataclass
class _Reading:
    """One run over one branch."""

    repository: Repository
    options: MineOptions
    branch: str
    blobs: Blobs
    report: MineReport

    def rows(self, head: str, base: str | None, since: str | None) -> Iterator[Row]:
        """Walk the whole line; give rows for what lies after ``base``."""
        line = self._line()
        left = since if since != base else None  # the tip of a line that the branch has left
        is_new, unsaved, commit = base is None, 0, None
        for commit in self.repository.history(head):
            if is_new and left:
                yield from self._switch(line, left, commit)
                left = None
            if not is_new:
                _pass(line, commit)
                is_new = commit.sha == base
                continue
            for event in line.take(commit):
                yield from self._event(event, commit)
            self.report.commits += 1
            unsaved += 1
            if unsaved == CHECKPOINT_COMMITS:
                yield mined_row(self.options.project, self.branch, commit.sha)
                unsaved = 0
        if left and commit:
            yield from self._switch(line, left, commit)
        if unsaved or (commit and head == base):
            yield mined_row(self.options.project, self.branch, head)

    def _line(self) -> Line:
        return Line(f"git:{self.options.project}:{self.branch}:")

    def _switch(self, line: Line, left: str, commit: Commit) -> Iterator[Row]:
        """From the tip of the line that was left to the files both lines share."""
        old = self._line()
        for one in self.repository.history(left):
            _pass(old, one)
        for event in switch(old, line, commit.at):
            yield from self._event(event, commit)

    def _event(self, event: Event, commit: Commit) -> Iterator[Row]:
        text = self._read(event.after) if event.after else None
        if event.after and text is not None:
            self.report.stepped += event.is_stepped
            self.report.renames += event.is_rename
            self.report.versions += 1
            yield self._drawer(event, event.after, text, commit)
        elif self._was_shown(event):
            self.report.stepped += event.is_stepped
            self.report.deletions += event.after is None
            self.report.gaps += event.after is not None
            why = "ceased to be text" if event.after else "deleted"
            yield end_row(event.chain.key, event.at, f"{why} in {commit.sha[:12]}")
        event.chain.shown = text is not None

    def _drawer(self, event: Event, version: Version, text: str, commit: Commit) -> Row:
        source = {
            "branch": self.branch,
            "path": version.path,
            "uri": f"git:{quote(self.options.project)}/{quote(version.path)}@{commit.sha}",
            "commit": commit.sha,
        } | ({"agent": commit.author} if commit.author else {})
        return drawer_row(self.options, version.path, text, event.chain.key, event.at, source)

    def _read(self, version: Version) -> str | None:
        """The text of a version, or None; the report hears why."""
        text, reason = self._judge(version)
        if text is None:
            self.report.skip(reason, printable(version.path))
        return text

    def _was_shown(self, event: Event) -> bool:
        """Whether the version before is open in the palace; an earlier run may have filed it."""
        if event.chain.shown is None and event.before:
            event.chain.shown = self._judge(event.before)[0] is not None
        return bool(event.chain.shown)

    def _judge(self, version: Version) -> tuple[str | None, str]:
        if version.barred:
            return None, version.barred
        size = self.blobs.size(version.blob)
        if size is None:
            return None, "missing"
        if size > self.options.max_bytes:
            return None, "too_large"
        return judge(self.blobs.read(version.blob), self.options.max_bytes)
