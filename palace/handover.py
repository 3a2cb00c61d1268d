"""Files rows where the palace is: in this process, or through the server that holds it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import httpx
from django.conf import settings

from palace import opening, serving
from palace.domain.errors import OperationFailed, PalaceError, StoreLocked
from palace.sources.importer import import_rows
from palace.sources.planning import Numbered, Options
from palace.sources.report import ImportReport
from palace.store import importing
from palace.store.rows import wing_ref

_TYPE = {"Content-Type": "application/x-ndjson"}
Reader = Callable[[], Iterable[Numbered]]
Progress = Callable[[int], None]


@dataclass(frozen=True)
class MinedState:
    """What the palace holds of a line of history: the last commit, or the open files."""

    commit: str | None
    files: list[tuple[str, str, str, int]]


@dataclass(frozen=True)
class Target:
    """Where rows go. ``served`` is the server that holds the palace, if one does."""

    served: serving.Served | None

    def file(self, read: Reader, options: Options, progress: Progress) -> ImportReport:
        """Import all rows of ``read()``; the same rules in both places."""
        report = ImportReport()
        if self.served is None:
            return import_rows(opening.store(for_new=True), read, options, report, progress)
        for answer in self._post(read, options):
            if "progress" in answer:
                progress(answer["progress"])
            elif "error" in answer:
                raise PalaceError(answer["error"], code=answer["code"], help=answer["help"])
            else:
                report.merge(answer["report"])
        return report

    def mined(self, wing: str, project: str, branch: str | None) -> MinedState:
        """What was mined before."""
        if self.served is None:
            return mined_state(wing, project, branch)
        asked = {"wing": wing, "project": project, **({"branch": branch} if branch else {})}
        answer = self._checked(httpx.get(self._url, params=asked, headers=self._headers))
        return MinedState(answer["commit"], [tuple(one) for one in answer["files"]])

    def _post(self, read: Reader, options: Options) -> Iterator[dict[str, Any]]:
        asked = {"strict": int(options.strict), "rewrite": int(options.rewrite)}
        asked["dry_run"] = int(options.dry_run)
        with tempfile.TemporaryFile() as body:
            # A length is sent, not chunks: not every server of Django takes those.
            for line in _lines(read()):
                body.write(line)
            size = body.tell()
            body.seek(0)
            headers = {**self._headers, "Content-Length": str(size), **_TYPE}
            try:
                yield from self._answers(body, asked, headers)
            except httpx.HTTPError as error:
                raise self._unreachable(error) from None

    def _answers(
        self, body: IO[bytes], asked: dict[str, int], headers: dict[str, str]
    ) -> Iterator[dict[str, Any]]:
        with httpx.stream(
            "POST",
            self._url,
            params=asked,
            content=iter(lambda: body.read(65_536), b""),
            headers=headers,
            timeout=httpx.Timeout(30, read=None),
        ) as response:
            if response.status_code != 200:
                response.read()
                self._checked(response)
            for line in response.iter_lines():
                yield json.loads(line)

    def _checked(self, response: httpx.Response) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = response.json()
        except ValueError:
            answer = {}
        if response.status_code != 200:
            raise OperationFailed(
                answer.get("error") or f"The server answered {response.status_code}.",
                help=answer.get("help") or "Look at the server's own messages.",
            )
        return answer

    def _unreachable(self, error: httpx.HTTPError) -> OperationFailed:
        return OperationFailed(
            f"The server that holds the palace does not answer ({error}).",
            help="Run the command again: what was filed is not filed twice.",
        )

    @property
    def _url(self) -> str:
        assert self.served is not None
        return f"{self.served.address}/api/import"

    @property
    def _headers(self) -> dict[str, str]:
        assert self.served is not None
        return {"Authorization": f"Bearer {self.served.token}"}


def target() -> Target:
    """The server that runs on the data directory, else this process."""
    return Target(None if settings.MEMCASTLE_PALACE_URL else serving.running())


def refuse_when_served() -> None:
    """For commands that read: the store of a running server cannot be opened beside it."""
    served = target().served
    if served is not None:
        raise StoreLocked(
            f"The palace in {settings.MEMCASTLE_DATA_DIR} is open in the server {served.address}.",
            help="Stop the server, then run this again.",
        )


def mined_state(wing: str, project: str, branch: str | None) -> MinedState:
    """What this process's palace holds of a mined history."""
    store = opening.store(for_new=True)
    if branch is not None:
        return MinedState(importing.get_mined(store, project, branch), [])
    return MinedState(None, importing.open_files(store, wing_ref(wing), project))


def _lines(rows: Iterable[Numbered]) -> Iterator[bytes]:
    """Rows as lines, each at the number it has in its file.

    What was no JSON goes as it cannot be read, to be told by the other side.
    """
    last = 0
    for number, row in rows:
        yield b"\n" * (number - last - 1)
        # Half a surrogate pair stays an escape: the other side refuses it by its line.
        yield b"not json\n" if isinstance(row, Exception) else json.dumps(row).encode() + b"\n"
        last = max(last + 1, number)
