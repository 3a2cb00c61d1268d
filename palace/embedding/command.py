"""Vectors from an operator's program: JSON lines on its standard input and output."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from palace.domain.embedding import Vector
from palace.embedding.child import Child, Gone
from palace.embedding.provider import (
    DEFAULT_TIMEOUT,
    EmbedSettings,
    Kind,
    NotConfigured,
    ProviderFailed,
    TextRefused,
)
from palace.embedding.texts import checked, prepared

PROTOCOL_VERSION = 1
DEFAULT_MODEL = "command"
_OURS = ("MEMCASTLE_", "DJANGO_")


class CommandProvider:
    """Starts the program when first asked, and keeps it as long as it stays."""

    def __init__(
        self, settings: EmbedSettings, argv: Sequence[str] = (), *, cwd: str | None = None
    ) -> None:
        self.model = settings.model or DEFAULT_MODEL
        self.native_dimension = settings.native_dimension
        self._settings = settings
        self._argv = list(argv) or parse_command(settings.command)
        self._cwd = cwd
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._numbers = count(1)
        # What the program called its model, when the settings leave the name to it.
        self._named = settings.model

    def embed(
        self, texts: Sequence[str], *, kind: Kind, timeout: float | None = None
    ) -> list[Vector]:
        until = time.monotonic() + (timeout or self._settings.timeout or DEFAULT_TIMEOUT)
        ready = prepared(texts, kind, self._settings)
        if not ready:
            return []
        if not self._lock.acquire(timeout=max(0.0, until - time.monotonic())):
            raise ProviderFailed("The program is busy with other texts.", transient=True)
        try:
            answer = self._answer(ready, kind, until)
        finally:
            self._lock.release()
        return checked(answer, len(ready), self.native_dimension)

    def close(self) -> None:
        with self._lock:
            if self._child is not None:
                self._child.stop(kindly=True)
                self._child = None

    def _answer(self, texts: list[str], kind: Kind, until: float) -> list[object]:
        number = next(self._numbers)
        request = {
            "version": PROTOCOL_VERSION,
            "id": number,
            "model": self._settings.model,
            "kind": kind,
            "texts": texts,
        }
        line = json.dumps(request).encode("ascii") + b"\n"
        try:
            return self._read(self._exchanged(line, until), number, len(texts))
        except TextRefused:
            raise
        except BaseException:
            # Whatever else went wrong, the next call must not read this one's remains.
            self._drop()
            raise

    def _exchanged(self, line: bytes, until: float) -> bytes:
        child = self._running()
        try:
            return child.ask(line, until)
        except Gone:
            if not child.answered:
                raise _died(child) from None
        except ProviderFailed as error:
            error.detail = child.last_words
            raise
        # It ended after its last answer, as a program may: another one takes its place.
        self._drop()
        child = self._running()
        try:
            return child.ask(line, until)
        except Gone:
            raise _died(child) from None

    def _running(self) -> Child:
        if self._child is not None and self._child.has_ended():
            self._drop()
        if self._child is None:
            try:
                self._child = Child(
                    self._argv, environment(os.environ, self._settings.command_env), self._cwd
                )
            except OSError as error:
                raise NotConfigured(
                    f"MEMCASTLE_EMBED_COMMAND cannot be started: {error.strerror}.",
                    help=f"Check that {self._argv[0]} is there and may be run.",
                ) from None
        return self._child

    def _drop(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None

    def _read(self, line: bytes, number: int, texts: int) -> list[object]:
        answer = _parsed(line)
        # A program that could not read the request cannot name it in its complaint.
        if answer.get("id", number if "error" in answer else None) != number:
            raise ProviderFailed("The program answered another request than the one sent.")
        if "error" in answer:
            raise _told_error(answer["error"], texts)
        if answer.get("version") != PROTOCOL_VERSION:
            raise ProviderFailed(
                f"The program speaks version {answer.get('version')!r} of the protocol, "
                f"not {PROTOCOL_VERSION}.",
                help="docs/embedding.md describes it.",
            )
        self._check_model(answer.get("model"))
        vectors = answer.get("vectors")
        if not isinstance(vectors, list):
            raise ProviderFailed("The program's answer has no list of vectors.")
        return vectors

    def _check_model(self, name: object) -> None:
        if not isinstance(name, str):
            raise ProviderFailed("The program's answer does not name its model.")
        self._named = self._named or name
        if name != self._named:
            raise ProviderFailed(
                f"The program answered with model {name!r}, not {self._named!r}.",
                help="Set MEMCASTLE_EMBED_MODEL to the model that it runs.",
            )


def parse_command(command: str) -> list[str]:
    """The words of MEMCASTLE_EMBED_COMMAND; no shell ever reads them."""
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise NotConfigured(f"MEMCASTLE_EMBED_COMMAND cannot be read: {error}.") from None
    if not argv:
        raise NotConfigured("MEMCASTLE_EMBED_COMMAND is empty.")
    # Found with our own PATH, which the program itself may not get.
    argv[0] = shutil.which(argv[0]) or argv[0]
    return argv


def environment(ours: Mapping[str, str], allowed: str) -> dict[str, str]:
    """What the program gets: all but the palace's own settings, or the allowed names alone."""
    names = set(re.split(r"[\s,]+", allowed.strip())) - {""}
    return {
        name: value
        for name, value in ours.items()
        if not name.upper().startswith(_OURS) and (not names or name in names)
    }


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ProviderFailed(
            "The program wrote something else than an answer to its standard output.",
            help="Messages belong to standard error.",
        )
    return answer


def _told_error(error: object, texts: int) -> Exception:
    """The program's own complaint: about single texts, or about all."""
    body = error if isinstance(error, dict) else {"message": error}
    message = " ".join(str(body.get("message") or "no reason given").split())[:300]
    refused = body.get("refused")
    if refused is None:
        return ProviderFailed(f"The program failed: {message}")
    if not isinstance(refused, list) or not all(
        type(index) is int and 0 <= index < texts for index in refused
    ):
        return ProviderFailed(f"The program refuses texts that were not sent: {message}")
    return TextRefused(f"The program refused: {message}", indexes=refused)


def _died(child: Child) -> ProviderFailed:
    last = child.last_words.strip()
    told = f" Its last words: {last.splitlines()[-1][:300]}" if last else ""
    return ProviderFailed(f"The program ended without an answer.{told}", detail=last)
