"""The parts of an embed run that need no state: what is to be done, cut how, embedded how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from palace.domain.embedding import Vector
from palace.embedding import passages
from palace.embedding.provider import Provider, TextRefused
from palace.embedding.report import EmbedOptions
from palace.store import embeddings
from palace.store.connection import Store

GROUP_DRAWERS = 200
GROUP_BYTES = 4_000_000
Answer = Vector | str  # or why the provider refused the text


@dataclass(frozen=True)
class Pending:
    """Drawers to embed with their sizes, and those that were refused before."""

    drawers: list[tuple[str, int]]
    failures: dict[str, str]
    skipped: int


@dataclass
class Plan:
    """What a run would do."""

    drawers: int = 0
    blank: int = 0
    passages: int = 0
    characters: int = 0


def pending(store: Store, model: str, options: EmbedOptions) -> Pending:
    """What lacks a vector; without the drawers that failed, unless they are to be tried again."""
    found = embeddings.without_vector(store, model, wing=options.wing, since=options.reembed)
    given = embeddings.embedded(store, model, list(options.failures), since=options.reembed)
    failures = {one: why for one, why in options.failures.items() if one not in given}
    tried_again = options.retry_failed or options.reembed is not None
    wanted = found if tried_again else [one for one in found if one[0] not in failures]
    return Pending(wanted[: options.limit], failures, len(found) - len(wanted))


def plan(store: Store, model: str, options: EmbedOptions) -> Plan:
    """Count drawers, passages and characters without asking the provider."""
    counted = Plan()
    for group in groups(pending(store, model, options).drawers):
        for _, text in embeddings.contents(store, group):
            spans = cut(text, options)
            counted.drawers += 1
            counted.blank += not spans
            counted.passages += len(spans)
            counted.characters += sum(end - start for start, end in spans)
    return counted


def groups(drawers: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """Ids in pieces whose texts fit into memory."""
    group: list[str] = []
    size = 0
    for ident, number in drawers:
        if group and (len(group) == GROUP_DRAWERS or size + number > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(ident)
        size += number
    if group:
        yield group


def cut(text: str, options: EmbedOptions) -> list[passages.Span]:
    """A drawer's passages by the settings."""
    if not options.passages:
        return passages.whole(text)
    return passages.split(text, chars=options.chars, overlap=options.overlap)


def embed_each(provider: Provider, texts: Sequence[str]) -> list[Answer]:
    """A vector or a refusal for each text: a refused batch is taken apart until it is known whose.

    Errors about the provider itself are raised.
    """
    if not texts:
        return []
    try:
        return list(provider.embed(texts, kind="passage"))
    except TextRefused as error:
        named = {one for one in error.indexes if 0 <= one < len(texts)}
        if len(texts) == 1 or len(named) == len(texts):
            return [error.message] * len(texts)
        if not named:
            half = len(texts) // 2
            return embed_each(provider, texts[:half]) + embed_each(provider, texts[half:])
        return _without(provider, texts, named, error.message)


def _without(
    provider: Provider, texts: Sequence[str], named: set[int], message: str
) -> list[Answer]:
    rest = iter(embed_each(provider, [one for at, one in enumerate(texts) if at not in named]))
    return [message if at in named else next(rest) for at in range(len(texts))]
