"""Vectors from an OpenAI-compatible ``/embeddings`` server."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

import httpx
import stamina

from palace.domain.embedding import PROBE_TEXT, Vector
from palace.embedding.answers import Overlong, Refused, Transient, read_vectors, refusal
from palace.embedding.provider import (
    DEFAULT_TIMEOUT,
    EmbedSettings,
    Kind,
    NotConfigured,
    ProviderFailed,
    Secret,
    TextRefused,
)
from palace.embedding.texts import checked, prepared

ATTEMPTS = 4
# A server that asks for a longer pause is down, as far as one call is concerned.
LONGEST_PAUSE = 30.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024
# A text that is still refused at this length is refused for something else than its length.
LEAST_CHARS = 250


class HttpProvider:
    """One server, one model. ``url`` is the address that is really called.

    ``shortened`` counts the texts of which the server took the beginning only.
    """

    def __init__(self, settings: EmbedSettings) -> None:
        if not settings.model:
            raise NotConfigured(
                "The http provider needs MEMCASTLE_EMBED_MODEL.",
                help="Set it to the model's name as the server knows it.",
            )
        self.url = endpoint(settings.url)
        self.model = settings.model
        self.native_dimension = settings.native_dimension
        self.shortened = 0
        self._settings = settings
        self._batch: int | None = None
        self._client = _client(settings.api_key)

    def embed(
        self, texts: Sequence[str], *, kind: Kind, timeout: float | None = None
    ) -> list[Vector]:
        until = time.monotonic() + (timeout or self._settings.timeout or DEFAULT_TIMEOUT)
        ready = prepared(texts, kind, self._settings)
        return self._sliced(ready, until, self._batch or len(ready) or 1)

    def close(self) -> None:
        self._client.close()
        self._client = _client(self._settings.api_key)

    def _sliced(self, texts: list[str], until: float, size: int) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), size):
            try:
                vectors += self._batched(texts[start : start + size], until)
            except TextRefused as error:
                places = [start + index for index in error.indexes]
                raise TextRefused(error.message, indexes=places) from None
        return vectors

    def _batched(self, texts: list[str], until: float) -> list[Vector]:
        """One batch; in halves when it is too big, its one text in halves when that is."""
        try:
            return self._fetched(texts, until)
        except Overlong as error:
            if len(texts) == 1:
                return self._shorter(texts[0], until, str(error))
        return self._halved(texts, until)

    def _fetched(self, texts: list[str], until: float) -> list[Vector]:
        try:
            rows = read_vectors(self._retried(texts, until), len(texts), self._hidden)
        except Refused as error:
            indexes = (0,) if len(texts) == 1 else ()
            raise TextRefused(str(error), indexes=indexes) from None
        return checked(rows, len(texts), self.native_dimension)

    def _halved(self, texts: list[str], until: float) -> list[Vector]:
        half, before = (len(texts) + 1) // 2, self.shortened
        vectors = self._sliced(texts, until, half)
        if self.shortened == before:
            # No single text was at fault: this server takes so many at a time.
            self._batch = min(self._batch or half, half)
        return vectors

    def _shorter(self, text: str, until: float, told: str) -> list[Vector]:
        while len(text) // 2 >= LEAST_CHARS:
            text = text[: len(text) // 2]
            try:
                vectors = self._fetched([text], until)
            except Overlong:
                continue
            self.shortened += 1
            return vectors
        raise TextRefused(told, indexes=(0,))

    def _retried(self, texts: list[str], until: float) -> bytes:
        def pause(error: Exception) -> bool | float:
            if not isinstance(error, Transient):
                return False
            left = until - time.monotonic()
            if error.retry_after is None:
                return left > 0
            return error.retry_after if error.retry_after < min(left, LONGEST_PAUSE) else False

        try:
            for attempt in stamina.retry_context(
                pause, attempts=ATTEMPTS, timeout=None, wait_initial=0.2, wait_jitter=0.2
            ):
                with attempt:
                    return self._asked(texts, until)
        except Transient as error:
            if error.status == 500 and self._is_up(until):
                raise Refused(str(error)) from None
            raise ProviderFailed(str(error), transient=True) from None
        raise AssertionError("the loop returns or raises")

    def _is_up(self, until: float) -> bool:
        """Whether a plain text goes through: then a lasting 500 is about the texts sent."""
        try:
            self._asked([PROBE_TEXT], until)
        except (Transient, Refused, Overlong, ProviderFailed):
            return False
        return True

    def _asked(self, texts: list[str], until: float) -> bytes:
        status, headers, body = self._sent(self._request(texts), until)
        if status == 200:
            return body
        raise refusal(status, headers, body, url=self.url, hide=self._hidden)

    def _request(self, texts: list[str]) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.model, "input": texts}
        request["encoding_format"] = "float"
        if self._settings.dimensions is not None:
            # Some servers refuse the member even as null, so it is there only when set.
            request["dimensions"] = self._settings.dimensions
        return request

    def _sent(self, request: dict[str, Any], until: float) -> tuple[int, httpx.Headers, bytes]:
        """The answer, read against the clock: a server that drips cannot hold the call."""
        left = until - time.monotonic()
        if left <= 0:
            raise ProviderFailed(f"{self.url} did not answer in time.", transient=True)
        body = json.dumps(request, ensure_ascii=False).encode("utf-8")
        kind = {"Content-Type": "application/json"}
        try:
            with self._client.stream(
                "POST", self.url, content=body, headers=kind, timeout=left
            ) as answer:
                return answer.status_code, answer.headers, self._read(answer, until)
        except httpx.TransportError as error:
            # The name of the error only: its text can quote what was sent.
            raise Transient(f"{self.url} cannot be reached ({type(error).__name__}).") from None
        except httpx.HTTPError as error:
            raise ProviderFailed(f"{self.url} answers no HTTP ({type(error).__name__}).") from None

    def _read(self, answer: httpx.Response, until: float) -> bytes:
        body = bytearray()
        for chunk in answer.iter_bytes():
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise ProviderFailed(f"{self.url} sent more than {MAX_ANSWER_BYTES} bytes.")
            if time.monotonic() > until:
                raise ProviderFailed(f"{self.url} did not answer in time.", transient=True)
        return bytes(body)

    def _hidden(self, text: str) -> str:
        """The text without the key, should the server repeat it."""
        key = self._settings.api_key.reveal().strip()
        return text.replace(key, "***") if key else text


def endpoint(base: str) -> str:
    """The address of the embeddings, from a base URL written in any of the usual ways."""
    parts = _parts(base.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NotConfigured(
            "MEMCASTLE_EMBED_URL must be an http or https address.",
            help="For example http://127.0.0.1:11434/v1",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        # They would be written to logs and shown on pages.
        raise NotConfigured(
            "MEMCASTLE_EMBED_URL must hold no user, password, query or fragment.",
            help="A key belongs into MEMCASTLE_EMBED_API_KEY.",
        )
    path = re.sub(r"/+", "/", parts.path).rstrip("/")
    if not path.endswith("/embeddings"):
        path += "/embeddings" if re.search(r"/v\d+$", path) else "/v1/embeddings"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _parts(base: str) -> SplitResult:
    try:
        parts = urlsplit(base)
        _ = parts.port, httpx.URL(base)
    except (ValueError, httpx.InvalidURL):
        raise NotConfigured("MEMCASTLE_EMBED_URL is no address.") from None
    return parts


def _client(key: Secret) -> httpx.Client:
    """Proxies and .netrc of the environment are no setting of the palace; redirects are refused."""
    return httpx.Client(trust_env=False, follow_redirects=False, headers=_headers(key))


def _headers(key: Secret) -> dict[str, str]:
    value = key.reveal().strip()
    if not value:
        return {}
    if not (value.isascii() and value.isprintable()) or " " in value:
        # Refused here, since the HTTP library would quote it in its own complaint.
        raise NotConfigured("MEMCASTLE_EMBED_API_KEY holds characters that no header can carry.")
    return {"Authorization": f"Bearer {value}"}
