"""The document of the protocol: its example program really works, its codes are the real ones."""

from __future__ import annotations

import re
import shlex
import sys
import textwrap
from pathlib import Path

import pytest

from palace.embedding import local, provider
from palace.embedding.command import CommandProvider
from palace.embedding.provider import EmbedSettings

TEXT = (Path(__file__).parents[2] / "docs/embedding.md").read_text(encoding="utf-8")

MODEL = """
class Model:
    def encode(self, texts):
        return [[len(text)] * 768 for text in texts]

def load():
    return Model()
"""


def test_the_example_program_works(tmp_path):
    (tmp_path / "my_model.py").write_text(MODEL)
    body = re.search(r"((?:    .*\n)*    import json, sys\n(?:    .*\n)*)", TEXT)
    assert body is not None
    (tmp_path / "program.py").write_text(textwrap.dedent(body[1]))
    ours = CommandProvider(
        EmbedSettings(command=shlex.join([sys.executable, str(tmp_path / "program.py")]))
    )
    for _ in range(2):
        assert len(ours.embed(["a", "b"], kind="passage", timeout=10)) == 2
    ours.close()


@pytest.mark.parametrize(
    "error",
    [
        provider.NotConfigured,
        provider.EmbedError,
        provider.DimensionMismatch,
        provider.TextRefused,
        provider.ProviderUnavailable,
    ],
)
def test_codes_are_the_real_ones(error):
    assert f"| `{error.code}` |" in TEXT


def test_the_packages_named_are_those_of_the_extra():
    assert local.INSTALL in TEXT
    extra = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    for package in local.INSTALL.split()[2:]:
        assert f'"{package}"' in extra
