"""What goes out to a provider and what comes back: the same checks for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from palace.domain.embedding import EMBEDDING_DIMENSION, Vector, check_vector, pad
from palace.domain.errors import InvalidInput
from palace.embedding.provider import (
    MAX_CHARS,
    DimensionMismatch,
    EmbedSettings,
    Kind,
    ProviderFailed,
    TextRefused,
)


def prepared(texts: Sequence[str], kind: Kind, settings: EmbedSettings) -> list[str]:
    """The texts as they are sent: prefixed, at most 8,000 characters, none of them blank."""
    cleaned = [_sendable(text) for text in texts]
    blank = [index for index, text in enumerate(cleaned) if not text.strip()]
    if blank:
        # Servers answer these with an error, zeros or NaN; none of it is a vector.
        raise TextRefused("A blank text has no meaning to embed.", indexes=blank)
    prefix = _sendable(settings.prefix(kind))
    return [(prefix + text)[:MAX_CHARS] for text in cleaned]


def _sendable(text: str) -> str:
    """Without NUL, at which some engines end a text, and without halves of pairs (no UTF-8)."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def checked(rows: Sequence[object], count: int, native: int | None) -> list[Vector]:
    """The answer's rows as unit vectors of 768; every row is checked, not the first alone."""
    if len(rows) != count:
        raise ProviderFailed(f"The provider gave {len(rows)} vectors for {count} texts.")
    expected = native or EMBEDDING_DIMENSION
    for row in rows:
        _check_length(row, expected)
    return _vectors(rows, expected)


def _check_length(row: object, expected: int) -> None:
    if not isinstance(row, list):
        raise ProviderFailed(
            f"The provider gave {_kind_of(row)} where a list of numbers is asked.",
            help='It must obey `"encoding_format": "float"`.',
        )
    if len(row) != expected:
        raise DimensionMismatch(
            f"The provider gave a vector of {len(row)} numbers; {expected} are expected.",
            help=_advice(len(row)),
        )


def _kind_of(row: object) -> str:
    return "text (base64?)" if isinstance(row, str) else f"a {type(row).__name__}"


def _advice(length: int) -> str:
    if 0 < length < EMBEDDING_DIMENSION:
        return (
            f"If that is the model's own size, set MEMCASTLE_EMBED_NATIVE_DIMENSION={length}: "
            "shorter vectors are filled with zeros."
        )
    if length == EMBEDDING_DIMENSION:
        return "Unset MEMCASTLE_EMBED_NATIVE_DIMENSION: this model gives 768 itself."
    return "Set MEMCASTLE_EMBED_DIMENSIONS=768 if the model can be cut, or take another model."


def _vectors(rows: Sequence[object], expected: int) -> list[Vector]:
    vectors: list[Vector] = []
    wrong: dict[int, str] = {}
    for index, row in enumerate(rows):
        try:
            unit = check_vector(row) if expected == EMBEDDING_DIMENSION else pad(row, expected)
        except InvalidInput as error:
            wrong[index] = error.message
        else:
            vectors.append(unit)
    if wrong:
        raise TextRefused(
            f"The provider's answer is no vector: {next(iter(wrong.values()))}",
            indexes=tuple(wrong),
        )
    return vectors
