"""Asks the git command line: branches, the first-parent log, and the bytes of blobs.

Nothing of the caller's or the repository's configuration may change an answer or start a program:
options are given on the command line, variables that point elsewhere are removed, the network is
closed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

from palace.domain.errors import PalaceError
from palace.sources.git_log import HEADER, Commit, read_log

RENAME_LIMIT = 1_000
_SETTINGS = (
    "core.quotepath=off",
    "log.showSignature=false",
    "log.showRoot=true",
    "diff.renames=true",
    f"diff.renameLimit={RENAME_LIMIT}",
    "core.fsmonitor=false",
)
_CONFIG = [part for one in _SETTINGS for part in ("-c", one)]
_LOG = f"""
    log --first-parent --diff-merges=first-parent --reverse --raw -z -M -l{RENAME_LIMIT}
    --no-abbrev --no-relative --ignore-submodules=none --no-ext-diff --no-textconv --no-color
    --no-notes --encoding=UTF-8 --format={HEADER}
""".split()


class MineError(PalaceError):
    """A folder or repository that cannot be mined (400)."""

    status = 400
    code = "memcastle::mine::git_failed"


class Repository:
    """A repository by its top folder (or a bare one), read through the command line only."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise MineError(
                f"“{path}” is not a folder.",
                code="memcastle::mine::not_found",
                help="Give the path of a git repository or of a folder.",
            )
        self.path = path.absolute()  # git runs inside it
        inner = self.path / ".git"
        self.folder = inner if inner.exists() else self.path
        if not self.ask("rev-parse", "--git-dir", allow_failure=True):
            raise MineError(
                f"“{path}” is not a git repository.",
                code="memcastle::mine::not_a_repository",
                help="Give the repository's top folder; a plain folder is read without history.",
            )

    def ask(self, *arguments: str, allow_failure: bool = False) -> str:
        """The output of a command; empty for a refusal where that is an answer."""
        process = self.start(*arguments, stderr=subprocess.PIPE)
        output, complaint = process.communicate()
        if process.returncode and not allow_failure:
            raise _failed(arguments[0], complaint)
        return "" if process.returncode else output.decode("utf-8", "surrogateescape").strip("\n")

    def start(self, *arguments: str, stderr: IO[bytes] | int) -> subprocess.Popen[bytes]:
        """A running git; never through a shell."""
        try:
            return subprocess.Popen(
                ["git", "--no-pager", f"--git-dir={self.folder}", *_CONFIG, *arguments],
                cwd=self.path,
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        except FileNotFoundError:
            raise MineError(
                "The program “git” was not found.",
                code="memcastle::mine::git_missing",
                help="Install git and see that it is on the PATH.",
            ) from None

    def current_branch(self) -> str:
        """The branch that is checked out; `HEAD` when none is."""
        return self.ask("symbolic-ref", "--quiet", "--short", "HEAD", allow_failure=True) or "HEAD"

    def head(self, branch: str | None) -> str | None:
        """The commit a branch points to; None while nothing is committed."""
        if branch is None or branch == "HEAD":
            return self.commit("HEAD")
        found = self.commit(f"refs/heads/{branch}") or self.commit(f"refs/remotes/{branch}")
        if found or (branch == self.current_branch() and self.commit("HEAD") is None):
            return found
        names = self.ask("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n")
        raise MineError(
            f"There is no branch “{branch}”.",
            code="memcastle::mine::unknown_branch",
            help=f"Branches here: {', '.join(names[:20]) or 'none'}.",
        )

    def commit(self, name: str) -> str | None:
        """The full name of a commit, None when the repository has none of that name."""
        wanted = f"{name}^{{commit}}"
        return self.ask("rev-parse", "--verify", "--quiet", wanted, allow_failure=True) or None

    def is_ancestor(self, older: str, newer: str) -> bool:
        return self.ask("merge-base", older, newer, allow_failure=True) == older

    def first_parents(self, head: str) -> list[str]:
        """The commits of a first-parent line, newest first."""
        return self.ask("rev-list", "--first-parent", head).split("\n")

    def history(self, head: str) -> Iterator[Commit]:
        """The commits of a first-parent line with their changes, oldest first, as git gives."""
        with tempfile.TemporaryFile() as complaint:
            process = self.start(*_LOG, head, stderr=complaint)
            try:
                assert process.stdout is not None
                yield from read_log(process.stdout)
                if process.wait():
                    complaint.seek(0)
                    raise _failed("log", complaint.read())
            finally:
                _stop(process)


class Blobs:
    """Two git processes kept open: one tells sizes, the other gives contents."""

    def __init__(self, repository: Repository) -> None:
        self._sizes = repository.start("cat-file", "--batch-check", stderr=subprocess.DEVNULL)
        self._contents = repository.start("cat-file", "--batch", stderr=subprocess.DEVNULL)

    def __enter__(self) -> Blobs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _stop(self._sizes)
        _stop(self._contents)

    def size(self, blob: str) -> int | None:
        """Bytes of a blob; None when the repository lacks it, as a partial clone does."""
        answer = _question(self._sizes, blob)
        return int(answer[2]) if answer[1:2] == [b"blob"] else None

    def read(self, blob: str) -> bytes:
        """The bytes of a blob that is there."""
        answer = _question(self._contents, blob)
        assert self._contents.stdout is not None
        size = int(answer[2])
        data = self._contents.stdout.read(size + 1)
        if len(data) != size + 1:
            raise _failed("cat-file", b"it ended within a blob")
        return data[:-1]


def _question(process: subprocess.Popen[bytes], blob: str) -> list[bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(blob.encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = b""
    if not answer:
        raise _failed("cat-file", b"it ended early")
    return answer.split()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a reader that may not have said all; its pipes close with it."""
    if process.poll() is None:
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _environment() -> dict[str, str]:
    """The caller's variables without those that would point git elsewhere."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(("GIT_CONFIG", "GIT_EXEC_PATH"))
    }
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _failed(command: str, complaint: bytes) -> MineError:
    said = complaint.decode("utf-8", "replace").strip() or "it gave no reason"
    return MineError(
        f"git {command} failed: {said[:500]}",
        help="Try `git fsck` in the repository. What was filed before stays as it is.",
    )
