"""What is remembered of each model that embedded here: its answer to one known text."""

from __future__ import annotations

from surrealdb import RecordID

from palace.domain.embedding import EMBEDDING_DIMENSION, Vector, pack, unpack
from palace.domain.records import derived_id
from palace.store.connection import Store
from palace.store.rows import stored

_GET = "SELECT VALUE probe FROM ONLY $id"
_SET = """
{
    UPSERT ONLY $id SET key = $key, native_dimension = $native, prefixes = prefixes ?? {},
        probe = $probe, created_at = $now RETURN NONE;
}
"""


def probe(store: Store, model: str) -> Vector | None:
    """The vector that a model gave for the probe text when it was first used."""
    packed = store.query(_GET, id=_ref(model))
    return None if packed is None else unpack(packed)


def keep_probe(store: Store, model: str, native: int | None, vector: Vector, now: int) -> None:
    """Remember it from now on."""
    store.write(
        _SET,
        id=_ref(model),
        key=model,
        native=native or EMBEDDING_DIMENSION,
        probe=pack(vector),
        now=stored(now),
    )


def _ref(model: str) -> RecordID:
    return RecordID("embedding_model", derived_id(model))
