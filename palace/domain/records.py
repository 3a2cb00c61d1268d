"""What the palace holds, as frozen values: what pages, routes and exports see."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time as clock
from dataclasses import dataclass, field
from typing import Any

from palace.domain.errors import InvalidInput

SOURCE_KINDS = ("file", "manual", "transcript", "note", "diary", "other")
SOURCE_TEXTS = ("uri", "agent", "project", "branch", "path")  # what scopes compare
MAX_CONTENT_BYTES = 4 * 1024 * 1024
MAX_NAME_CHARS = 1000
MAX_DEPTH = 32  # what a source may nest; the database's own encoder walks it by recursion


@dataclass(frozen=True)
class Drawer:
    """One verbatim text with both time axes. Instants are microseconds; ids are strings."""

    id: str
    wing: str
    room: str
    content: str
    content_hash: str
    valid_from: int
    created_at: int
    name: str | None = None
    former_name: str | None = None
    tags: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    valid_to: int | None = None
    closed_at: int | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    close_reason: str | None = None
    key: str | None = None
    size: int = 0

    @property
    def called(self) -> str | None:
        """The name it has or had."""
        return self.name or self.former_name

    @property
    def title(self) -> str:
        """A line to call it by: its first heading or sentence, at most 120 characters."""
        return title_of(self.content) or self.called or self.id

    def known_end(self, known_at: int | None) -> int | None:
        """Its end as far as it was known at ``known_at`` (None = all we know)."""
        if self.valid_to is None or known_at is None:
            return self.valid_to
        closed = self.created_at if self.closed_at is None else self.closed_at
        return self.valid_to if closed <= known_at else None


@dataclass(frozen=True)
class Room:
    """A topic within a wing; ``count`` is filled by readers that were asked for an instant."""

    wing: str
    name: str
    description: str | None = None
    created_at: int = 0
    count: int = 0


@dataclass(frozen=True)
class Wing:
    """A project or a person, with its rooms."""

    name: str
    description: str | None = None
    created_at: int = 0
    count: int = 0
    rooms: tuple[Room, ...] = ()


@dataclass(frozen=True)
class Entity:
    """A person, place, system or idea that drawers mention and facts tie."""

    id: str
    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fact:
    """One statement ``subject predicate object`` and when it held."""

    id: str
    subject: Entity
    predicate: str
    object: Entity
    valid_from: int
    valid_to: int | None = None
    confidence: float = 1.0


_EMPHASIS = re.compile(r"\*{1,3}|`+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_SENTENCE = re.compile(r"[.!?…](?=[\s*_\"”’)]|$)[*_\"”’)]*|[。！？]")
MAX_TITLE = 120


def title_of(content: str) -> str:
    """A heading, or the first sentence: without Markdown's signs, at most 120 characters."""
    return title_and_end(content)[0]


def title_and_end(content: str) -> tuple[str, int]:
    """The title, and the offset where the text goes on after it."""
    at = 0
    for line in content[:4000].splitlines(keepends=True):
        text = line.strip()
        if any(letter.isalnum() for letter in text):
            return _title_in(line, text, at)
        at += len(line)
    return "", 0


def _title_in(line: str, text: str, at: int) -> tuple[str, int]:
    end = len(line)
    if not text.startswith("#"):
        sentence = next((one.end() for one in _SENTENCE.finditer(line) if one.end() > 8), None)
        if sentence is not None and sentence <= MAX_TITLE + 40:
            end = sentence
    bare = _EMPHASIS.sub("", line[:end].strip().lstrip("#>*-= ")).strip()
    if len(bare) > MAX_TITLE:
        return bare[: MAX_TITLE - 1].rstrip() + "…", at
    return bare, at + end


def content_hash(content: str) -> str:
    """SHA-256 of the UTF-8 bytes, in hex."""
    return hashlib.sha256(content.encode()).hexdigest()


def derived_id(*parts: str | None) -> str:
    """The same 32 hex digits for the same parts, so that importing twice changes nothing."""
    packed = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(packed.encode()).hexdigest()[:32]


def new_id() -> str:
    """A time-ordered id: UUID version 7 (RFC 9562, section 5.7) as 32 hex digits."""
    stamp = clock.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (stamp & ((1 << 48) - 1)) << 80 | random
    value = value & ~(0xF << 76) | (0x7 << 76)
    value = value & ~(0x3 << 62) | (0x2 << 62)
    return f"{value:032x}"


def check_text(label: str, text: str, limit: int = MAX_NAME_CHARS) -> str:
    """A name of something: not blank, no NUL or lone surrogate, not endless."""
    if not text.strip():
        raise InvalidInput(f"The {label} is blank.", help=f"Give the {label} at least one letter.")
    if len(text) > limit:
        raise InvalidInput(f"The {label} has {len(text)} characters; at most {limit} are allowed.")
    _check_storable(label, text)
    return text


def check_content(content: str) -> str:
    """A drawer's text: at most 4 MiB, no NUL, not blank."""
    if not content.strip():
        raise InvalidInput("The content is blank.", help="A drawer holds at least one letter.")
    _check_storable("content", content)
    if len(content) > MAX_CONTENT_BYTES // 4 and len(content.encode()) > MAX_CONTENT_BYTES:
        raise InvalidInput("The content is larger than 4 MiB.", help="File it in several drawers.")
    return content


def _check_storable(label: str, text: str) -> None:
    if "\x00" in text:
        raise InvalidInput(f"The {label} holds a NUL character.", help="Remove it and try again.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            f"The {label} holds half of a surrogate pair, which is no text."
        ) from None


def check_tags(tags: object) -> tuple[str, ...]:
    """Tags as a tuple in the order given, each once; commas would not survive a URL's list."""
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        raise InvalidInput("Tags are a list of words.")
    for tag in tags:
        check_text("tag", tag, 200)
        if "," in tag or any(ord(letter) < 32 for letter in tag):
            raise InvalidInput(
                f"The tag “{tag}” holds a comma or a control character.", help="Use two tags."
            )
    return tuple(dict.fromkeys(tags))


def check_values(label: str, value: Any) -> None:
    """A nested value of JSON that can be kept and written out again, looked at level by level."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += [*one, *one.values()]
            elif isinstance(one, list):
                inner += one
            else:
                _check_value(label, one)
        level = inner
    if level:
        raise InvalidInput(f"The {label} is nested deeper than {MAX_DEPTH} levels.")


def _check_value(label: str, value: Any) -> None:
    if isinstance(value, str):
        _check_storable(label, value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"The {label} holds a number that is not finite.")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidInput(f"The {label} holds a whole number of more than 64 bits.")


def check_kind(source: dict[str, Any]) -> dict[str, Any]:
    """A source with a kind of the closed set; absent means ``other``."""
    check_values("source", source)
    for name in SOURCE_TEXTS:
        if not isinstance(source.get(name), str | None):
            raise InvalidInput(f"“source.{name}” is a text.")
    kind = source.get("kind", "other")
    if kind not in SOURCE_KINDS:
        raise InvalidInput(
            f"Unknown source kind “{kind}”.", help=f"One of {', '.join(SOURCE_KINDS)}."
        )
    return {**source, "kind": kind}
