"""`manage.py explore`: prepare everything, then become the server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from palace import opening
from palace.domain.errors import PalaceError

_STEPS: tuple[tuple[str, ...], ...] = (
    ("migrate", "--verbosity", "0"),
    ("make_admin",),
    ("load_demo", "--if-needed"),
)


class Command(BaseCommand):
    help = "Make the accounts, load the demo while there is no palace, and serve the explorer."
    requires_system_checks = []  # noqa: RUF012

    def handle(self, *args: Any, **options: Any) -> None:
        bind = settings.MEMCASTLE_BIND
        _check_free(bind)
        _check_provider()
        # Child processes: a store that this process had opened could not survive the server's fork.
        for step in _STEPS:
            self._child(*step)
        self.stdout.write(f"The palace is open at http://{bind}/   (stop with Ctrl-C)")
        self.stdout.flush()
        os.chdir(settings.BASE_DIR)
        os.environ["MEMCASTLE_BIND"] = bind
        server = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py"]
        os.execv(sys.executable, [*server, "memcastle_site.wsgi"])

    def _child(self, *command: str) -> None:
        manage = str(settings.BASE_DIR / "manage.py")
        done = subprocess.run([sys.executable, manage, *command], check=False)
        if done.returncode:
            raise CommandError(f"`manage.py {command[0]}` failed; the reason stands above.")


def _check_provider() -> None:
    """Settings that make no provider of embeddings are told here, not on every page."""
    try:
        provider = opening.embedder()
    except PalaceError as error:
        raise CommandError(f"{error.message} {error.help}".strip()) from None
    if provider is not None:
        provider.close()


def _check_free(bind: str) -> None:
    """A told error instead of a server that tries again and again."""
    host, _, port = bind.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdigit():
        raise CommandError(f"MEMCASTLE_BIND is “{bind}”; write HOST:PORT, as 127.0.0.1:8000.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    except OSError as error:
        raise CommandError(
            f"{bind} cannot be used ({error.strerror}). Stop what serves there, or set"
            " MEMCASTLE_BIND to another port."
        ) from None
