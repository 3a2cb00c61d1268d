"""Reads single parameters: checked values, or an InvalidInput that names the parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palace.domain.errors import InvalidInput
from palace.domain.results import SearchMode
from palace.domain.time import Temporal, day_window, is_date_only, parse_instant, print_short

TIME_NAMES = ("as_of", "from", "until", "history", "known_at")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")
Values = Mapping[str, Sequence[str]]


def read_time(values: Values, now: int) -> tuple[Temporal, tuple[tuple[str, str], ...]]:
    """The temporal choice of parameters, and its canonical spelling for URLs."""
    texts = {name: read_one(values, name) for name in TIME_NAMES}
    history = read_flag(values, "history")
    window = texts["from"] is not None or texts["until"] is not None
    if (texts["as_of"] is not None) + window + history > 1:
        raise _invalid(
            "as_of", "“as_of”, “from” with “until”, and “history” exclude each other.", "Keep one."
        )
    known = _instant("known_at", texts["known_at"])
    tail = (("known_at", print_short(known)),) if known is not None else ()
    if history:
        return Temporal.history(known), (("history", "1"), *tail)
    if window:
        start, until = _window(texts["from"], texts["until"])
        given = (("from", print_short(start)), ("until", print_short(until)))
        return Temporal.between(start, until, known), (*given, *tail)
    at = _instant("as_of", texts["as_of"])
    if at is None:
        return Temporal.as_of(now, known), tail
    return Temporal.as_of(at, known), (("as_of", print_short(at)), *tail)


def _window(start: str | None, until: str | None) -> tuple[int, int]:
    if start is None or until is None:
        raise _invalid("from", "“from” and “until” go together.", "Give both, or neither.")
    a, b = _instant("from", start), _instant("until", until)
    assert a is not None
    assert b is not None
    if a == b and is_date_only(start) and is_date_only(until):
        b = day_window(until)[1]  # one day named twice means that day
    if a >= b:
        raise _invalid(
            "until", "“from” must lie before “until”.", "Swap them, or widen the window."
        )
    return a, b


def _instant(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_instant(text)
    except InvalidInput as error:
        raise _invalid(name, f"{name}: {error.message}", error.help) from None


def read_one(values: Values, name: str) -> str | None:
    """The one value of a name, None when absent or blank."""
    given = [read_storable(name, value) for value in values.get(name, []) if value.strip()]
    if len(set(given)) > 1:
        raise _invalid(name, f"“{name}” is given twice with different values.", "Give it once.")
    return given[0] if given else None


def read_storable(name: str, value: str) -> str:
    """A text without NUL or half a surrogate pair."""
    if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _invalid(name, f"“{name}” holds a character that is no text.", "Remove it.")
    return value


def read_tags(values: Values) -> tuple[str, ...]:
    """Tags of `tag` (repeatable) and of `tags` (a comma list), each once."""
    listed = [part for value in values.get("tags", []) for part in value.split(",")]
    given = [read_storable("tag", one).strip() for one in (*values.get("tag", []), *listed)]
    return tuple(dict.fromkeys(one for one in given if one))


def read_choice(values: Values, name: str, allowed: Sequence[str]) -> str | None:
    """A value of a closed set."""
    value = read_one(values, name)
    if value is not None and value not in allowed:
        raise _invalid(name, f"“{name}” is “{value[:80]}”.", f"One of {', '.join(allowed)}.")
    return value


def read_ranking(values: Values) -> SearchMode:
    """The ranking; absent is auto."""
    value = read_one(values, "ranking")
    try:
        return SearchMode(value) if value else SearchMode.AUTO
    except ValueError:
        allowed = ", ".join(mode.value for mode in SearchMode)
        raise _invalid("ranking", f"“ranking” is “{value!s:.80}”.", f"One of {allowed}.") from None


def read_whole(values: Values, name: str, default: int) -> int:
    """A whole number, kept within a billion."""
    value = read_one(values, name)
    if value is None:
        return default
    try:
        number = int(value)
    except ValueError:
        raise _invalid(name, f"“{name}” is no whole number.", "Write digits only.") from None
    return max(-(10**9), min(10**9, number))


def read_flag(values: Values, name: str) -> bool:
    """True for 1, true, yes, on."""
    value = (read_one(values, name) or "").strip().lower()
    if value not in _TRUE + _FALSE:
        raise _invalid(name, f"“{name}” is “{value[:80]}”.", "Write 1 or leave it out.")
    return value in _TRUE


def _invalid(name: str, message: str, help: str) -> InvalidInput:
    error = InvalidInput(message, help=help)
    error.parameter = name  # type: ignore[attr-defined]
    return error
