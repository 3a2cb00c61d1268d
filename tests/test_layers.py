"""The shape of the program: imports go downwards, and the schema lives in one file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "palace").rglob("*.py"))
# As statements: a noun of the schema follows. The words alone may stand in prose.
DDL = re.compile(
    r"\b(DEFINE|REMOVE|REBUILD|ALTER)\s+(IF\s+(NOT\s+)?EXISTS\s+)?"
    r"(TABLE|FIELD|INDEX|ANALYZER|EVENT|PARAM|FUNCTION|NAMESPACE|DATABASE|USER|ACCESS)\b"
)


def test_imports_go_downwards_only() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    told = subprocess.run([linter], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_defines_or_removes_schema(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not DDL.search(node.value), f"{path}:{node.lineno}"


def test_every_statement_of_the_schema_may_run_again() -> None:
    schema = (ROOT / "database" / "schema" / "palace.surql").read_text(encoding="utf-8")
    defined = re.findall(r"^DEFINE \w+ (.*)$", schema, re.MULTILINE)
    assert len(defined) > 50
    assert all(one.startswith("IF NOT EXISTS") for one in defined)
