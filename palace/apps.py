"""The Django application. Nothing opens the palace here: a server may still fork."""

from __future__ import annotations

from django.apps import AppConfig


class PalaceConfig(AppConfig):
    name = "palace"
    verbose_name = "Palace"
