"""The embed run: cuts drawers without a vector into passages, embeds them and stores the rows.

The database is the cursor. A drawer is stored as soon as its last passage has its vector, so that
a run that ends early, for whatever reason, is continued by the next one without any repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from palace.domain.embedding import PROBE_TEXT, Vector, same_model, unpack
from palace.embedding.batches import Answer, cut, embed_each, groups, pending
from palace.embedding.passages import Span
from palace.embedding.provider import EmbedError, Provider
from palace.embedding.report import EmbedOptions, EmbedReport
from palace.store import embedding_models, embeddings
from palace.store.connection import Store
from palace.store.embeddings import PassageRow

GO_ON = "running"

Clock = Callable[[], int]
Progress = Callable[[EmbedReport], str]  # answers GO_ON, or why to stop


class ModelChanged(EmbedError):
    """The provider answers otherwise than before under the same name."""

    status = 409
    code = "memcastle::embed::model_changed"


class _Stopped(Exception):
    """Somebody paused or cancelled the job, or took it."""


@dataclass
class _Pending:
    """A drawer whose passages are on their way."""

    id: str
    text: str
    spans: list[Span]
    hashes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hashes = [text_hash(self.text[start:end]) for start, end in self.spans]


def text_hash(text: str) -> str:
    """What tells whether a passage was embedded before; it survives halves of pairs."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def run_embed(
    store: Store, provider: Provider, options: EmbedOptions, clock: Clock, progress: Progress
) -> EmbedReport:
    """Embed what has no vector yet. Raises EmbedError when the provider fails altogether."""
    run = _Run(store, provider, options, clock, progress)
    return run.whole()


class _Run:
    """One run over the drawers of a palace, or of a wing."""

    def __init__(
        self,
        store: Store,
        provider: Provider,
        options: EmbedOptions,
        clock: Clock,
        progress: Progress,
    ) -> None:
        self.store = store
        self.provider = provider
        self.options = options
        self.clock = clock
        self.progress = progress
        self.report = EmbedReport(model=provider.model, failures=dict(options.failures))
        self._refused: dict[str, str] = {}  # a bad text in many drawers is sent once
        self._fresh: set[str] = set()  # sent, and not stored yet

    def whole(self) -> EmbedReport:
        wanted = self._wanted()
        self.report.total = len(wanted)
        try:
            self._look()
            if wanted:
                probe = self._checked_probe()
                for group in groups(wanted):
                    self._embed_group(embeddings.contents(self.store, group))
                self._keep_probe(probe)
        except _Stopped as stopped:
            self.report.stopped = str(stopped)
        return self.report

    def _wanted(self) -> list[tuple[str, int]]:
        found = pending(self.store, self.provider.model, self.options)
        self.report.skipped = found.skipped
        self.report.failures = dict(found.failures)
        return found.drawers

    def _look(self) -> None:
        """Tell how far it is, and hear whether to go on."""
        word = self.progress(self.report)
        if word != GO_ON:
            raise _Stopped(word)

    def _checked_probe(self) -> Vector | None:
        """The model's answer to the probe text if it is to be kept; refused if it has changed."""
        (probe,) = self.provider.embed([PROBE_TEXT], kind="passage")
        kept = embedding_models.probe(self.store, self.provider.model)
        if kept is None:
            self._keep_probe(probe)
            return None
        if same_model(probe, kept):
            return None
        if self.options.reembed is None or self.options.wing or self.options.limit:
            raise model_changed(self.provider.model)
        return probe

    def _keep_probe(self, probe: Vector | None) -> None:
        """After all is made anew, not before: a run that is cut short must not seem whole."""
        if probe is not None:
            native = self.provider.native_dimension
            embedding_models.keep_probe(
                self.store, self.provider.model, native, probe, self.clock()
            )

    def _embed_group(self, drawers: Sequence[tuple[str, str]]) -> None:
        waiting = [one for one in map(self._cut, drawers) if one is not None]
        vectors = self._known(waiting)
        texts = {
            digest: one.text[start:end]
            for one in waiting
            for digest, (start, end) in zip(one.hashes, one.spans, strict=True)
            if digest not in vectors
        }
        waiting = self._store_ready(waiting, vectors)
        hashes = list(texts)
        for at in range(0, len(hashes), self.options.batch):
            self._look()
            chosen = hashes[at : at + self.options.batch]
            vectors.update(self._embedded(chosen, [texts[one] for one in chosen]))
            waiting = self._store_ready(waiting, vectors)

    def _cut(self, drawer: tuple[str, str]) -> _Pending | None:
        ident, text = drawer
        spans = cut(text, self.options)
        if not spans:
            self.report.blank += 1
            return None
        return _Pending(ident, text, spans)

    def _known(self, waiting: Sequence[_Pending]) -> dict[str, Answer]:
        hashes = {digest for one in waiting for digest in one.hashes}
        found = embeddings.existing_text(
            self.store, self.provider.model, hashes, since=self.options.reembed
        )
        known: dict[str, Answer] = {digest: unpack(packed) for digest, packed in found.items()}
        return known | self._refused

    def _embedded(self, hashes: Sequence[str], texts: Sequence[str]) -> dict[str, Answer]:
        answers = dict(zip(hashes, embed_each(self.provider, texts), strict=True))
        self._refused |= {one: why for one, why in answers.items() if isinstance(why, str)}
        self._fresh.update(hashes)
        self.report.sent += len(texts)
        self.report.characters += sum(map(len, texts))
        return answers

    def _store_ready(
        self, waiting: Sequence[_Pending], vectors: dict[str, Answer]
    ) -> list[_Pending]:
        """Store the drawers all of whose passages are answered; the others still wait."""
        rows: list[PassageRow] = []
        left: list[_Pending] = []
        for one in waiting:
            answers = [vectors.get(digest) for digest in one.hashes]
            refused = next((answer for answer in answers if isinstance(answer, str)), None)
            if refused is not None:
                self._fail(one.id, refused)
            elif any(answer is None for answer in answers):
                left.append(one)
            else:
                rows += self._rows(one, vectors)
        if rows:
            embeddings.write_passages(self.store, rows)
            self._count(rows)
        return left

    def _fail(self, drawer: str, error: str) -> None:
        if self.options.reembed is not None:
            embeddings.delete(self.store, drawer)  # of another way of embedding
        self.report.fail(drawer, error)

    def _rows(self, one: _Pending, vectors: dict[str, Answer]) -> Iterator[PassageRow]:
        now = self.clock()
        for number, (digest, (start, end)) in enumerate(zip(one.hashes, one.spans, strict=True)):
            vector = vectors[digest]
            assert not isinstance(vector, str)
            yield PassageRow(one.id, number, start, end, vector, self.provider.model, digest, now)

    def _count(self, rows: Sequence[PassageRow]) -> None:
        self.report.passages += len(rows)
        for row in rows:
            self.report.stored += row.passage == 0
            self.report.failures.pop(row.drawer, None)
            self.report.copied += row.text_hash not in self._fresh
            self._fresh.discard(row.text_hash)


def model_changed(model: str) -> ModelChanged:
    """Vectors of two models under one name cannot be compared with each other."""
    return ModelChanged(
        f"{model} answers otherwise than when the palace was embedded: it is another model now, "
        "or has another prefix.",
        help="Embed everything anew (manage.py embed --reembed), or name the model otherwise.",
    )
