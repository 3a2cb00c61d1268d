"""Forms of the curators, and what a browser's text field does to a remembered text."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import Any

from django import forms

from palace.domain.errors import InvalidInput
from palace.domain.records import Drawer, check_content, check_tags
from palace.domain.time import parse_instant

_ENDING = re.compile(r"\r\n|\r|\n")
_ACCEPTED = "Empty means now. Otherwise a date (midnight UTC) or an instant with its zone."


class InstantField(forms.CharField):
    """An exact instant as pages and routes read it; empty is None."""

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        try:
            return parse_instant(text) if text else None
        except InvalidInput as error:
            raise _refused(error) from None


class ClosingForm(forms.Form):
    """Why and when a version ends. ``seen`` is the last write the curator looked at."""

    seen = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(
        max_length=1000,
        help_text="Readers see it beside the version that ends.",
        widget=forms.TextInput(attrs={"class": "vTextField", "dir": "auto"}),
    )
    at = InstantField(
        label="Effective from",
        required=False,
        help_text=_ACCEPTED,
        widget=forms.TextInput(attrs={"class": "vTextField", "placeholder": "2026-03-14T09:30Z"}),
    )


class InvalidateForm(ClosingForm):
    """End a drawer without a replacement."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["at"].label = "Ended at"


class SupersedeForm(ClosingForm):
    """A new version of a drawer's text or tags."""

    content = forms.CharField(
        strip=False,
        widget=forms.Textarea(attrs={"class": "vLargeTextField", "rows": 24, "dir": "auto"}),
    )
    tags = forms.CharField(
        required=False,
        help_text="Words separated by commas.",
        widget=forms.TextInput(attrs={"class": "vTextField", "dir": "auto"}),
    )
    field_order = ("content", "tags", "reason", "at", "seen")

    def __init__(self, *args: Any, old: Drawer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.old = old

    def clean_content(self) -> str:
        """The text with the old one's line endings, which no browser sends back."""
        text = with_endings_of(self.old.content, self.cleaned_data["content"])
        return str(_checked(check_content, text))

    def clean_tags(self) -> tuple[str, ...]:
        listed = [tag.strip() for tag in self.cleaned_data["tags"].split(",")]
        return tuple(_checked(check_tags, [tag for tag in listed if tag]))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        old = (self.old.content, self.old.tags)
        if not self.errors and (cleaned["content"], cleaned["tags"]) == old:
            raise forms.ValidationError(
                "Nothing was changed: neither the text nor the tags. Memory stays as it is."
            )
        return cleaned


def initial_of(drawer: Drawer, seen: int | None) -> dict[str, Any]:
    """What the form shows first."""
    return {"content": drawer.content, "tags": ", ".join(drawer.tags), "seen": seen}


def with_endings_of(old: str, typed: str) -> str:
    """The typed text with line endings as the old one has them.

    A browser sends CRLF for every line. One style is kept for all lines; where the old text mixes
    styles each line that is still there keeps its own, and new lines take the commonest.
    """
    endings = Counter(_ENDING.findall(old))
    lines = _ENDING.split(typed)
    common = endings.most_common(1)[0][0] if endings else "\n"
    if len(endings) < 2:
        return common.join(lines)
    own = _own_endings(old, lines, common)
    return "".join(line + end for line, end in zip(lines, [*own, ""], strict=True))


def _own_endings(old: str, lines: list[str], common: str) -> list[str]:
    before, ends = _ENDING.split(old), _ENDING.findall(old)
    own = [common] * (len(lines) - 1)
    for block in SequenceMatcher(None, before, lines).get_matching_blocks():
        for step in range(block.size):
            if block.a + step < len(ends) and block.b + step < len(own):
                own[block.b + step] = ends[block.a + step]
    return own


def _checked(check: Any, value: Any) -> Any:
    try:
        return check(value)
    except InvalidInput as error:
        raise _refused(error) from None


def _refused(error: InvalidInput) -> forms.ValidationError:
    return forms.ValidationError(f"{error.message} {error.help}".strip())
