"""`manage.py embed`: give every drawer without a vector one, here or through the server."""

from __future__ import annotations

import time
from typing import Any

import httpx
from django.core.management.base import CommandError, CommandParser

from palace import handover, opening
from palace.domain.errors import OperationFailed
from palace.embedding import desk
from palace.embedding.report import EmbedReport
from palace.embedding.service import PROCESS, Worker
from palace.management.base import PalaceCommand, progress_bar
from palace.serving import Served
from palace.store import jobs

PAUSE = 0.5
OVER = ("completed", "failed", "cancelled")
_ASKED = ("wing", "limit", "reembed", "retry_failed")


class Command(PalaceCommand):
    help = "Embed what has no vector yet; a second run does nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--wing", help="only this wing")
        parser.add_argument("--limit", type=int, help="at most so many drawers")
        parser.add_argument("--dry-run", action="store_true", help="count what would be embedded")
        parser.add_argument("--reembed", action="store_true", help="make all vectors anew")
        parser.add_argument("--retry-failed", action="store_true", help="try refused drawers again")

    def run(self, **options: Any) -> None:
        given = ((name, options[name]) for name in _ASKED)
        asked = {name: one for name, one in given if one is not None and one is not False}
        served = handover.target().served
        if options["dry_run"]:
            self._tell_plan(_Remote(served).plan(asked) if served else _local_plan(asked))
        else:
            self._tell_end(self._follow(served, asked) if served else self._work(asked))

    def _tell_plan(self, plan: dict[str, Any]) -> None:
        self.stdout.write(
            f"{plan['drawers'] - plan['blank']:,} drawers would be embedded: "
            f"{plan['passages']:,} passages, {plan['characters']:,} characters. "
            "A dry run: nothing was sent or written."
        )

    def _tell_end(self, job: dict[str, Any]) -> None:
        for line in _report(job["progress"]).lines():
            self.stderr.write(line)
        if job["status"] != "completed":
            raise CommandError(job["error"] or f"The job is {job['status']}.")

    def _work(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Run waiting jobs in this process until the asked one has run."""
        provider = desk.needed(opening.embedder())
        store = opening.store()
        jobs.release(store, PROCESS, opening.clock())
        wanted = desk.submit(store, asked, opening.clock())
        with progress_bar("drawers") as bar:
            settings = opening.embed_settings()
            worker = Worker(store, provider, settings, opening.clock, told=_Bar(bar).show)
            done = worker.run_next()
            while done is not None and done.id != wanted.id:
                done = worker.run_next()
        return vars(done or desk.job_of(store, wanted.id))

    def _follow(self, served: Served, asked: dict[str, Any]) -> dict[str, Any]:
        """Hand the job to the server that holds the palace, and watch it."""
        remote = _Remote(served)
        job = remote.ask("POST", "jobs", {"type": "embed", **asked})
        with progress_bar("drawers") as bar:
            shown = _Bar(bar)
            while job["status"] not in (*OVER, "paused"):
                time.sleep(PAUSE)
                job = remote.ask("GET", f"jobs/{job['id']}")
                shown.show(_report(job["progress"]))
        return job


class _Bar:
    """A bar that follows a report."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, report: EmbedReport) -> None:
        self._bar.total = report.total
        self._bar.update(report.done - self._bar.n)


class _Remote:
    """The server's routes for jobs, with the token that it left for commands."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def plan(self, asked: dict[str, Any]) -> dict[str, Any]:
        plan: dict[str, Any] = self.ask("POST", "jobs", {"type": "embed", "dry_run": True, **asked})
        return dict(plan["plan"])

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._served.token}"}
        try:
            response = httpx.request(
                method,
                f"{self._served.address}/api/{path}",
                json=body,
                headers=headers,
                timeout=120,
                trust_env=False,
            )
            answer: dict[str, Any] = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise OperationFailed(
                f"The server that holds the palace does not answer ({error}).",
                help="The job goes on in it; run the command again to follow it.",
            ) from None
        if response.status_code != 200:
            raise OperationFailed(answer["error"], code=answer["code"], help=answer["help"])
        return answer


def _local_plan(asked: dict[str, Any]) -> dict[str, Any]:
    provider = desk.needed(opening.embedder())
    settings = opening.embed_settings()
    return vars(desk.would_do(opening.store(), provider, settings, asked, opening.clock()))


def _report(progress: dict[str, Any]) -> EmbedReport:
    """A job's progress as the report it was made of; empty before it has begun."""
    return EmbedReport(**progress) if progress else EmbedReport()
