"""The command provider before real programs: good, slow, loud, forking, dying ones."""

from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from palace.domain.embedding import check_vector
from palace.embedding import child, command
from palace.embedding.command import CommandProvider, environment, parse_command
from palace.embedding.provider import (
    DimensionMismatch,
    EmbedSettings,
    NotConfigured,
    ProviderFailed,
    TextRefused,
)
from tests.embedding.conftest import vector

CANARY = "canary-90b1"

# What every program of these tests begins with: reading a request and answering it.
HEAD = """
import json, os, sys, time
def ask():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)
def vector(text):
    return [float(len(text)), 1.0] + [0.5] * 766
def answer(asked, **more):
    vectors = [vector(text) for text in asked["texts"]]
    body = {"version": 1, "id": asked["id"], "model": asked["model"] or "own", "vectors": vectors}
    print(json.dumps(body | more), flush=True)
"""
STAYS = "while True: answer(ask())"
ENDS = "answer(ask())"


@pytest.fixture
def program(tmp_path):
    """Writes a program and gives the provider that runs it."""
    made = []

    def write(body: str, **settings) -> CommandProvider:
        path = tmp_path / f"program{len(made)}.py"
        path.write_text(HEAD + body)
        made.append(
            CommandProvider(
                EmbedSettings(command=shlex.join([sys.executable, str(path)]), **settings)
            )
        )
        return made[-1]

    yield write
    for provider in made:
        provider.close()


def embed(provider, *texts, timeout=10.0):
    return provider.embed(texts, kind="passage", timeout=timeout)


def lives(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped by another does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true, seconds=3.0):
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


@pytest.mark.parametrize("body", [STAYS, ENDS])
def test_texts_become_unit_vectors_call_after_call(program, body):
    provider = program(body)
    for text in ("a", "bb", "ccc"):
        found, other = embed(provider, text, "xxxxx")
        assert np.allclose(found, check_vector(vector(text)))
        assert np.allclose(other, check_vector(vector("xxxxx")))


def test_a_program_that_stays_is_started_once(program):
    provider = program("asked = ask(); answer(asked); print(os.getpid(), file=sys.stderr); " + ENDS)
    embed(provider, "a")
    first = provider._child.pid
    embed(provider, "a")
    assert provider._child.pid == first


def test_a_program_that_ended_is_started_anew(program):
    provider = program(ENDS)
    embed(provider, "a")
    first = provider._child.pid
    assert wait_until(provider._child.has_ended)
    embed(provider, "a")
    assert provider._child.pid != first


def test_the_request_is_one_line_of_the_protocol(program, tmp_path):
    seen = tmp_path / "seen"
    provider = program(
        f"asked = ask(); open({str(seen)!r}, 'w').write(json.dumps(asked));answer(asked)",
        model="m",
        query_prefix="q: ",
    )
    provider.embed(["zwölf\n漢字", "b"], kind="query")
    assert seen.read_text() == (
        '{"version": 1, "id": 1, "model": "m", "kind": "query", '
        '"texts": ["q: zw\\u00f6lf\\n\\u6f22\\u5b57", "q: b"]}'
    )


def test_a_large_batch_passes_while_the_program_talks_on_both_pipes(program):
    provider = program(
        "asked = ask(); sys.stderr.write('x' * 500_000); sys.stderr.flush(); answer(asked)"
    )
    assert len(embed(provider, *["y" * 8_000] * 200)) == 200


def test_short_vectors_are_filled_when_that_is_set(program):
    body = "asked = ask(); answer(asked, vectors=[[3.0, 4.0]])"
    (found,) = embed(program(body, native_dimension=2), "a")
    assert found[:3].tolist() == pytest.approx([0.6, 0.8, 0.0])
    with pytest.raises(DimensionMismatch):
        embed(program(body), "a")


# The environment


def test_the_palaces_settings_stay_at_home_and_the_rest_arrives(program, monkeypatch):
    monkeypatch.setenv("MEMCASTLE_EMBED_API_KEY", CANARY)
    monkeypatch.setenv("memcastle_lower", CANARY)
    monkeypatch.setenv("DJANGO_SECRET_KEY", CANARY)
    monkeypatch.setenv("FOREIGN_KEY", "arrives")
    provider = program("print(dict(os.environ), file=sys.stderr)")
    with pytest.raises(ProviderFailed) as told:
        embed(provider, "a")
    assert CANARY not in told.value.detail + told.value.message
    env = environment(os.environ, "")
    assert (env["FOREIGN_KEY"], env["PATH"]) == ("arrives", os.environ["PATH"])
    assert not [name for name in env if name.upper().startswith(("MEMCASTLE_", "DJANGO_"))]


def test_an_environment_printed_really_holds_the_foreign_key(program, monkeypatch):
    monkeypatch.setenv("FOREIGN_KEY", "arrives")
    provider = program("print('>', os.environ.get('FOREIGN_KEY'), file=sys.stderr)")
    with pytest.raises(ProviderFailed, match="> arrives"):
        embed(provider, "a")


def test_an_allow_list_lets_nothing_else_through():
    ours = {"PATH": "/bin", "FOREIGN_KEY": "1", "HOME": "/", "MEMCASTLE_X": CANARY}
    assert environment(ours, "FOREIGN_KEY, MEMCASTLE_X HOME") == {"FOREIGN_KEY": "1", "HOME": "/"}


def test_without_path_the_program_is_still_found(monkeypatch):
    assert os.path.isabs(parse_command("sh -c 'exit 1'")[0])


# Words, not a shell


def test_no_shell_reads_the_command(tmp_path):
    made = tmp_path / "made"
    provider = CommandProvider(EmbedSettings(command=f"echo a; touch {made}"))
    with pytest.raises(ProviderFailed):
        embed(provider, "a")
    provider.close()
    assert not made.exists()


@pytest.mark.parametrize("text", ["", "  ", "'open"])
def test_a_command_without_words_is_refused(text):
    with pytest.raises(NotConfigured):
        parse_command(text)


def test_a_program_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotConfigured, match="cannot be started"):
        embed(CommandProvider(EmbedSettings(command=str(tmp_path / "none"))), "a")


# Slow, forking, flooding, dying


FORKS = """
asked = ask()
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
open(PIDS, 'w').write(f'{os.getpid()} {child}')
"""


def test_a_slow_program_is_killed_with_its_children(program, tmp_path):
    pids = tmp_path / "pids"
    provider = program(FORKS.replace("PIDS", repr(str(pids))) + "time.sleep(60)")
    began = time.monotonic()
    with pytest.raises(ProviderFailed, match="in time") as told:
        embed(provider, "a", timeout=1)
    assert told.value.transient
    assert time.monotonic() - began < 2
    assert wait_until(lambda: not any(lives(int(pid)) for pid in pids.read_text().split()))


def test_close_kills_the_children_too(program, tmp_path):
    pids = tmp_path / "pids"
    provider = program(FORKS.replace("PIDS", repr(str(pids))) + "answer(asked); " + "ask()")
    embed(provider, "a")
    assert all(lives(int(pid)) for pid in pids.read_text().split())
    provider.close()
    assert wait_until(lambda: not any(lives(int(pid)) for pid in pids.read_text().split()))
    assert len(embed(provider, "a")) == 1


def test_a_dead_program_whose_child_holds_the_pipes_is_noticed(program, tmp_path):
    pids = tmp_path / "pids"
    provider = program(FORKS.replace("PIDS", repr(str(pids))))
    began = time.monotonic()
    with pytest.raises(ProviderFailed, match="ended without an answer"):
        embed(provider, "a", timeout=20)
    assert time.monotonic() - began < 5
    assert wait_until(lambda: not any(lives(int(pid)) for pid in pids.read_text().split()))


def test_a_flood_without_an_end_is_cut(program, monkeypatch):
    monkeypatch.setattr(child, "MAX_ANSWER_BYTES", 3_000_000)
    provider = program("ask()\nwhile True: sys.stdout.write('x' * 65536)")
    with pytest.raises(ProviderFailed, match="more than 3000000 bytes"):
        embed(provider, "a")
    assert provider._child is None


def test_a_flood_of_complaints_is_kept_to_its_end(program):
    provider = program(
        "ask()\nfor n in range(20_000): print('line', n, 'é' * 20, file=sys.stderr)\n"
        "print('the end', file=sys.stderr); sys.exit(3)"
    )
    with pytest.raises(ProviderFailed, match="the end") as told:
        embed(provider, "a")
    assert 1_000 < len(told.value.detail) <= 2_000
    assert not told.value.transient


def test_a_program_that_dies_at_once_tells_its_last_words(program):
    with pytest.raises(ProviderFailed, match="ModuleNotFoundError"):
        embed(program("import no_such_module_at_all"), "a" * 100_000)


def test_a_program_that_dies_every_time_is_not_tried_for_ever(program, tmp_path):
    starts = tmp_path / "starts"
    provider = program(f"open({str(starts)!r}, 'a').write('x'); ask(); sys.exit(1)")
    with pytest.raises(ProviderFailed):
        embed(provider, "a")
    assert starts.read_text() == "x"


def test_it_recovers_after_a_failure(program, tmp_path):
    flag = tmp_path / "flag"
    provider = program(
        f"asked = ask()\nif not os.path.exists({str(flag)!r}):\n"
        f"    open({str(flag)!r}, 'w'); sys.exit(1)\nanswer(asked)"
    )
    with pytest.raises(ProviderFailed):
        embed(provider, "a")
    assert len(embed(provider, "a")) == 1


# Answers that are none


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("ask(); print('loading model...', flush=True); time.sleep(9)", "something else"),
        ("ask(); print('[]', flush=True); time.sleep(9)", "something else"),
        ("print('{}', flush=True); time.sleep(9)", "before it had read|another request"),
        ("answer(ask(), id=7)", "another request"),
        ("answer(ask(), version=2)", "version 2"),
        ("answer(ask(), model=None)", "does not name its model"),
        ("answer(ask(), vectors=None)", "no list of vectors"),
        ("answer(ask(), vectors=[])", "0 vectors for 2"),
        ("answer(ask(), vectors=['x', 'y'])", "where a list of numbers"),
        ("answer(ask(), error={'message': 'quota used up'})", "quota used up"),
        ("answer(ask(), error='plain words')", "plain words"),
        ("ask(); print(json.dumps({'error': {'message': 'unread'}}), flush=True)", "unread"),
        ("answer(ask(), error={'message': 'm', 'refused': [2]})", "not sent"),
        ("answer(ask(), error={'message': 'm', 'refused': 'all'})", "not sent"),
    ],
)
def test_what_is_no_answer_fails(program, body, told):
    with pytest.raises(ProviderFailed, match=told):
        embed(program(body), "a", "b")


def test_refused_texts_are_named_and_the_program_stays(program):
    provider = program("answer(ask(), error={'message': 'odd script', 'refused': [1]})\n" + STAYS)
    with pytest.raises(TextRefused, match="odd script") as told:
        embed(provider, "a", "b")
    assert told.value.indexes == (1,)
    first = provider._child.pid
    assert len(embed(provider, "a")) == 1
    assert provider._child.pid == first


def test_remains_of_an_earlier_answer_are_never_taken(program):
    provider = program("while True:\n    asked = ask(); answer(asked); answer(asked)")
    embed(provider, "a")
    with pytest.raises(ProviderFailed):
        embed(provider, "bb")
    assert np.allclose(embed(provider, "ccc")[0], check_vector(vector("ccc")))


def test_a_model_that_changes_is_told(program):
    body = "answer(ask(), model='one'); answer(ask(), model='two')"
    provider = program(body)
    embed(provider, "a")
    with pytest.raises(ProviderFailed, match="'two', not 'one'"):
        embed(provider, "a")
    with pytest.raises(ProviderFailed, match="'one', not 'm'"):
        embed(program(body, model="m"), "a")


# Threads


def test_threads_take_turns(program):
    provider = program(STAYS)
    found = {}

    def run(text):
        found[text] = embed(provider, text)[0]

    threads = [threading.Thread(target=run, args=("x" * size,)) for size in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.allclose(found[text], check_vector(vector(text))) for text in found)
    assert len(found) == 8


def test_a_busy_program_is_waited_for_no_longer_than_asked(program):
    provider = program("asked = ask(); time.sleep(1); answer(asked)")
    thread = threading.Thread(target=embed, args=(provider, "a"))
    thread.start()
    assert wait_until(provider._lock.locked)
    with pytest.raises(ProviderFailed, match="busy") as told:
        embed(provider, "b", timeout=0.1)
    assert told.value.transient
    thread.join()


def test_nothing_is_started_for_no_texts(program):
    provider = program(STAYS)
    assert embed(provider) == []
    with pytest.raises(TextRefused):
        embed(provider, " ")
    assert provider._child is None
    assert provider.model == command.DEFAULT_MODEL
