"""The documents say what is so: settings, commands, options, pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import Resolver404, resolve

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = sorted((ROOT / "docs").glob("*.md"))


def test_every_setting_is_in_the_readme_and_the_other_way_round():
    documented = set(re.findall(r"^\| `(MEMCASTLE_\w+)` \|", README, re.MULTILINE))
    read = set(
        re.findall(r'"(MEMCASTLE_\w+)"', (ROOT / "memcastle_site/settings.py").read_text("utf-8"))
    )
    assert documented == read


def test_defaults_in_the_readme_are_the_settings_own():
    settings = (ROOT / "memcastle_site/settings.py").read_text("utf-8")
    for name, default in re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", README, re.MULTILINE):
        line = next(line for line in settings.splitlines() if f'"{name}"' in line)
        spoken = {"on": "True", "off": "False"}.get(default, default)
        parts = re.split(r"[,/]", spoken)
        assert all(part in line for part in parts), (name, default, line)


@pytest.mark.parametrize("document", [ROOT / "README.md", *DOCS], ids=lambda path: path.name)
def test_commands_and_options_named_exist(document):
    text = document.read_text(encoding="utf-8")
    commands = get_commands()
    for line in re.findall(r"manage\.py ([^\n`]+)", text):
        words = line.split("#")[0].split()
        assert commands.get(words[0]) in ("palace", "django.core"), line
        parser = load_command_class(commands[words[0]], words[0]).create_parser("", words[0])
        for option in (word for word in words if word.startswith("--")):
            assert option in parser._option_string_actions, line


def test_options_listed_for_mine_are_all_of_them():
    parser = load_command_class("palace", "mine").create_parser("", "mine")
    common = load_command_class("palace", "make_admin").create_parser("", "make_admin")
    own = set(parser._option_string_actions) - set(common._option_string_actions)
    paragraph = README.split("`mine` files")[1].split("\n\n")[0]
    assert set(re.findall(r"`(--[\w-]+)`", paragraph)) == own


@pytest.mark.parametrize("document", [ROOT / "README.md", *DOCS], ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_pages_in_the_readme_are_served():
    rows = re.findall(r"^\| (`/[^|]*) \|", README, re.MULTILINE)
    paths = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    assert len(paths) >= 8
    for path in paths:
        concrete = re.sub(r"<\w+>", "x", path)
        try:
            resolve(concrete)
        except Resolver404:
            pytest.fail(f"{path} is not served")
