"""Reads settings from the environment and fails loudly on odd values."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def text(name: str, default: str) -> str:
    return os.environ.get(name) or default


def words(name: str, default: list[str]) -> list[str]:
    """A comma list."""
    value = os.environ.get(name, "")
    return [word.strip() for word in value.split(",") if word.strip()] or default


def boolean(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value not in _TRUE + _FALSE:
        raise ImproperlyConfigured(f"{name} is “{value}”; write one of {_TRUE + _FALSE}.")
    return value in _TRUE


def integer(name: str, default: int, *, least: int) -> int:
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or int(value) < least:
        raise ImproperlyConfigured(f"{name} is “{value}”; write a whole number from {least} up.")
    return int(value)


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = os.environ.get(name) or default
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} is “{value}”; write one of {', '.join(allowed)}.")
    return value


def secret_key(name: str, kept_in: Path) -> str:
    """The key from the environment, else one made once and kept beside the accounts (mode 0600)."""
    given = os.environ.get(name)
    if given:
        return given
    kept_in.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(os.open(kept_in, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return kept_in.read_text(encoding="utf-8") or secrets.token_urlsafe(50)
