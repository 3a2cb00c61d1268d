"""How ``/embeddings`` servers answer: where vectors and complaints lie in what they send."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from palace.embedding.provider import ProviderFailed

# Statuses with which servers refuse what was sent, rather than who sent it or where to.
_REFUSING = (400, 413, 422)
_TOO_LONG = re.compile(
    r"too (?:large|long|big|many)|token|context length|maximum|max_|batch size|exceed", re.I
)

Hide = Callable[[str], str]


class Transient(Exception):
    """May go better later, in ``retry_after`` seconds if the server said so."""

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Refused(Exception):
    """The server refuses what one of the texts holds."""


class Overlong(Exception):
    """The server refuses the size of the batch or of a text."""


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, *, url: str, hide: Hide
) -> Exception:
    """The error that an answer other than 200 stands for."""
    told = f"{url} answered {status}: {complaint(body, hide)}"
    too_long = _TOO_LONG.search(told.removeprefix(url)) is not None
    if 300 <= status < 400:
        return ProviderFailed(
            f"{url} answered {status}, a redirect, which is refused.",
            help="Set MEMCASTLE_EMBED_URL to the address it should lead to.",
        )
    # One server tells an input beyond its batch as 500: trying that again cannot help.
    if status in (413, 422) or (status in (400, 500) and too_long):
        return Overlong(told)
    if status in _REFUSING:
        return Refused(told)
    if status == 429 or status >= 500:
        pause = retry_after(headers.get("Retry-After"))
        return Transient(told, status=status, retry_after=pause)
    return ProviderFailed(told, help=_ADVICE.get(status, ""))


_ADVICE = {
    401: "Set MEMCASTLE_EMBED_API_KEY to a key that this server takes.",
    403: "Set MEMCASTLE_EMBED_API_KEY to a key that this server takes.",
    404: "Check MEMCASTLE_EMBED_URL and MEMCASTLE_EMBED_MODEL.",
}


def retry_after(value: str | None) -> float | None:
    """The pause a ``Retry-After`` asks for: seconds or a date."""
    if not value:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value.strip()):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


def complaint(body: bytes, hide: Hide) -> str:
    """The sentence in an error's body, whichever of the usual shapes it has; 200 characters."""
    text = body[:100_000].decode("utf-8", "replace")
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    told = _message(data) or re.sub(r"<[^<>]*>", " ", text)
    return " ".join(hide(told).split())[:200] or "nothing"


def _message(data: Any) -> str:
    if isinstance(data, str):
        return data
    if not isinstance(data, dict):
        return ""
    inner = next((data[key] for key in ("error", "message", "detail") if data.get(key)), None)
    return "" if inner is None else _message(inner) or json.dumps(inner)


def read_vectors(body: bytes, count: int, hide: Hide) -> list[object]:
    """The rows of a 200, each in the place of its text."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise ProviderFailed(f"The answer of 200 is no JSON: {complaint(body, hide)}") from None
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise ProviderFailed(f"The answer of 200 has no vectors: {complaint(body, hide)}")
    if not all(isinstance(row, dict) and "embedding" in row for row in rows):
        raise ProviderFailed("The server's answer has rows without an embedding.")
    if len(rows) != count:
        raise ProviderFailed(f"The server gave {len(rows)} vectors for {count} texts.")
    return [row["embedding"] for row in _ordered(rows)]


def _ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By ``index``, which is there for every row or for none, and names each place once."""
    if all(row.get("index") is None for row in rows):
        return rows
    places = [row.get("index") for row in rows]
    if any(type(place) is not int for place in places) or set(places) != set(range(len(rows))):
        raise ProviderFailed("The server numbers its vectors wrongly: gaps, doubles or no numbers.")
    return sorted(rows, key=lambda row: int(row["index"]))
