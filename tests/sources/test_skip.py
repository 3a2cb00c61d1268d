"""Which paths and contents are left out, and by what word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.sources.skip import folders_of, judge, path_reason, printable


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a.py", None),
        ("src/build.py", None),
        ("dist", None),
        ("environment/x", None),
        ("env/x", None),
        (".github/workflows/ci.yml", None),
        ("src/build/x.o", "ignored_folder"),
        ("a/.git/config", "ignored_folder"),
        ("x/node_modules/y/z.js", "ignored_folder"),
        ("thing.egg-info/PKG-INFO", "ignored_folder"),
        (".venv/lib/a.py", "ignored_folder"),
        ("tools/own/lib/a.py", "ignored_folder"),
        ("bad\udcff", "path_not_utf8"),
        (" /x", "blank_path"),
        ("x" * 1_001, "long_path"),
    ],
)
def test_paths(path: str, reason: str | None) -> None:
    assert path_reason(path, {"tools/own"}) == reason


@pytest.mark.parametrize(
    ("data", "text", "reason"),
    [
        (b"one\r\n", "one\r\n", ""),
        (b"\xef\xbb\xbfx", "\ufeffx", ""),
        (b"12345678", "12345678", ""),
        (b"123456789", None, "too_large"),
        (b"a\0b", None, "binary"),
        (b"\xff\0", None, "binary"),
        (b"caf\xe9", None, "not_utf8"),
        (b"\xed\xa0\x80", None, "not_utf8"),
        (b"", None, "empty"),
        (b" \r\n\t", None, "empty"),
    ],
)
def test_contents(data: bytes, text: str | None, reason: str) -> None:
    assert judge(data, 8) == (text, reason)


@given(st.binary(max_size=40))
def test_what_is_taken_is_the_very_bytes(data: bytes) -> None:
    text, reason = judge(data, 30)
    assert (text is None) == bool(reason)
    assert text is None or text.encode() == data


def test_folders_above_a_path() -> None:
    assert list(folders_of("a/b/c")) == ["a", "a/b"]
    assert list(folders_of("c")) == []


def test_a_path_of_odd_bytes_can_be_written() -> None:
    assert printable("é/bad\udcff") == "é/bad\\xff"
