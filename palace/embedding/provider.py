"""What every embedding provider promises, its errors, its settings, and which one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any, Literal, NoReturn, Protocol

from palace.domain.embedding import EMBEDDING_DIMENSION, Vector
from palace.domain.errors import PalaceError

Kind = Literal["query", "passage"]

MAX_CHARS = 8_000
DEFAULT_TIMEOUT = 60.0


class EmbedError(PalaceError):
    """A provider gave no usable vectors."""

    status = 502
    code = "memcastle::embed::failed"


class ProviderFailed(EmbedError):
    """The provider is down, slow or answers nonsense; ``transient`` when later may go better.

    ``detail`` is for a job's record and the log: the last words of a program, for one.
    """

    def __init__(
        self, message: str, *, transient: bool = False, detail: str = "", help: str = ""
    ) -> None:
        super().__init__(message, help=help or "See the provider's own log; /health/ tells more.")
        self.transient = transient
        self.detail = detail


class DimensionMismatch(EmbedError):
    """The vectors have another length than the palace's."""

    code = "memcastle::embed::dimension_mismatch"


class TextRefused(EmbedError):
    """Texts of the call were refused; ``indexes`` says which, and is empty when unknown."""

    code = "memcastle::embed::refused"

    def __init__(self, message: str, *, indexes: Sequence[int] = ()) -> None:
        super().__init__(message, help="The other texts of the batch can be sent without these.")
        self.indexes = tuple(indexes)


class ProviderUnavailable(EmbedError):
    """Nothing is there that could embed."""

    status = 400
    code = "memcastle::search::semantic_unavailable"


class NotConfigured(EmbedError):
    """The settings do not make a provider."""

    status = 400
    code = "memcastle::embed::not_configured"


class Provider(Protocol):
    """Turns texts into vectors. ``model`` is the key that is kept with each of them."""

    model: str
    native_dimension: int | None

    def embed(
        self, texts: Sequence[str], *, kind: Kind, timeout: float | None = None
    ) -> list[Vector]:
        """One unit vector of 768 for each text, in their order; an EmbedError otherwise."""
        ...

    def close(self) -> None:
        """Give back processes and connections; a later ``embed`` may take them again."""
        ...


class Secret:
    """A value that shows in no repr, format, log or pickle; ``reveal`` is the only way out."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "***"

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("A secret is not serialised.")


@dataclass(frozen=True)
class EmbedSettings:
    """The ``MEMCASTLE_EMBED_*`` settings, as read from the environment."""

    provider: str = ""
    command: str = ""
    command_env: str = ""
    url: str = ""
    model: str = ""
    api_key: Secret = field(default_factory=Secret)
    dimensions: int | None = None
    native_dimension: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    passages: bool = True
    passage_chars: int = 1_000
    passage_overlap: int = 100
    timeout: float = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        native = self.native_dimension
        if native is not None and not 1 <= native <= EMBEDDING_DIMENSION:
            raise NotConfigured(
                f"MEMCASTLE_EMBED_NATIVE_DIMENSION lies between 1 and {EMBEDDING_DIMENSION}, "
                f"not {native}.",
                help="A longer model must emit 768 itself: set MEMCASTLE_EMBED_DIMENSIONS=768.",
            )

    def prefix(self, kind: Kind) -> str:
        return self.query_prefix if kind == "query" else self.passage_prefix


def build_provider(settings: EmbedSettings, *, allow_hashing: bool = False) -> Provider | None:
    """The provider that the settings name; None when they name none."""
    name = settings.provider.strip().lower()
    if not name:
        return None
    if name == "http":
        from palace.embedding.http import HttpProvider

        return HttpProvider(settings)
    if name == "command":
        from palace.embedding.local import command_provider

        return command_provider(settings)
    if name == "hashing" and allow_hashing:
        from palace.embedding.hashing import HashingProvider

        return HashingProvider()
    raise NotConfigured(
        f"MEMCASTLE_EMBED_PROVIDER is {settings.provider!r}: it is command, http or empty.",
        help="docs/embedding.md describes both.",
    )
