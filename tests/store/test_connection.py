"""Opening, refusing, cancelling and closing, on real files and in real processes."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palace.domain.errors import (
    InvalidInput,
    OperationFailed,
    PalaceError,
    StoreDamaged,
    StoreLocked,
    TimedOut,
)
from palace.store import drawers
from palace.store.connection import Address, Store
from palace.store.guard import creating_file
from tests.conftest import MakeDrawer

ROOT = Path(__file__).parents[2]
# A nested scan that runs for minutes when nobody stops it.
ENDLESS = """
SELECT VALUE array::len((SELECT VALUE id FROM drawer WHERE content > $parent.content
    AND array::len((SELECT VALUE id FROM drawer WHERE content > $parent.content)) > 0))
FROM drawer
"""


def address(tmp_path: Path) -> Address:
    return Address(f"surrealkv://{tmp_path}/palace")


@pytest.fixture
def palace(tmp_path: Path, make_drawer: MakeDrawer) -> Address:
    """A closed palace on disk that holds one drawer."""
    store = Store(address(tmp_path))
    drawers.file(store, make_drawer(id="kept"))
    store.close()
    return store.address


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )


def test_a_palace_opens_at_the_first_query_and_again_later(palace: Address) -> None:
    store = Store(palace)
    assert not store.is_open
    assert drawers.get(store, "kept") is not None
    assert store.is_open
    store.close()
    with pytest.raises(OperationFailed) as refused:
        drawers.get(store, "kept")
    assert refused.value.code == "memcastle::store::closed"


def test_a_creation_leaves_no_sign_behind(tmp_path: Path) -> None:
    store = Store(address(tmp_path))
    store.open()
    assert not creating_file(tmp_path / "palace").exists()
    store.close()


def test_a_second_process_is_told_that_the_palace_is_open(palace: Address) -> None:
    holder = Store(palace)
    holder.open()
    script = (
        "import sys\n"
        "from palace.domain.errors import StoreLocked\n"
        "from palace.store.connection import Address, Store\n"
        "try:\n    Store(Address(sys.argv[1])).open()\n"
        "except StoreLocked as error:\n    print(error.code, error.message)\n"
    )
    told = run(script, palace.url)
    holder.close()
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("memcastle::store::locked The palace in ")
    assert "is open in another process" in told.stdout


def test_a_refused_second_opening_harms_nothing(palace: Address) -> None:
    holder = Store(palace)
    holder.open()
    second = Store(palace)
    with pytest.raises(StoreLocked):
        second.open()
    assert drawers.get(holder, "kept") is not None
    holder.close()
    assert drawers.get(second, "kept") is not None
    second.close()


def test_a_directory_that_is_no_palace_is_left_untouched(tmp_path: Path) -> None:
    directory = tmp_path / "palace"
    directory.mkdir()
    (directory / "notes.txt").write_text("mine")
    with pytest.raises(StoreDamaged, match="holds no palace"):
        Store(address(tmp_path)).open()
    assert [one.name for one in directory.iterdir()] == ["notes.txt"]
    assert [one.name for one in tmp_path.iterdir()] == ["palace"]


def test_a_palace_that_lost_its_manifest_is_refused(palace: Address) -> None:
    directory = palace.directory
    assert directory is not None
    (directory / "manifest").rename(directory / "manifest.lost")
    with pytest.raises(StoreDamaged):
        Store(palace).open()
    (directory / "manifest.lost").rename(directory / "manifest")
    store = Store(palace)
    assert drawers.get(store, "kept") is not None
    store.close()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "palace").write_text("mine")
    with pytest.raises(StoreDamaged, match="is a file"):
        Store(address(tmp_path)).open()
    assert (tmp_path / "palace").read_text() == "mine"


def test_a_path_with_a_question_mark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PalaceError):
        Store(Address(f"surrealkv://{tmp_path}/what?/palace")).open()


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OperationFailed) as refused:
        Store(Address(f"surrealkv://{tmp_path}/file/below/palace")).open()
    assert "MEMCASTLE_DATA_DIR" in refused.value.help


def test_an_interrupted_creation_goes_on(palace: Address, tmp_path: Path) -> None:
    """Killed before the marker was written: the sign beside the directory still stands."""
    _change(palace, "DELETE meta:palace")
    creating_file(tmp_path / "palace").touch()
    store = Store(palace)
    store.open()
    assert store.query("SELECT VALUE version FROM ONLY meta:palace") == 1
    assert not creating_file(tmp_path / "palace").exists()
    store.close()


def test_a_store_without_the_marker_is_refused(palace: Address) -> None:
    _change(palace, "DELETE meta:palace")
    with pytest.raises(StoreDamaged, match="damaged or not a palace"):
        Store(palace).open()


def test_a_newer_palace_is_refused(palace: Address) -> None:
    _change(palace, "UPDATE meta:palace SET version = 99")
    with pytest.raises(StoreDamaged, match="schema version 99") as refused:
        Store(palace).open()
    assert "Update the program" in refused.value.help


def test_a_refused_opening_lets_the_files_go(palace: Address) -> None:
    _change(palace, "UPDATE meta:palace SET version = 99")
    for _ in range(2):
        with pytest.raises(StoreDamaged):
            Store(palace).open()


def _change(palace: Address, sql: str) -> None:
    store = Store(palace)
    store.write(sql)
    store.close()


def test_a_read_past_its_time_is_cancelled_in_the_engine(
    store: Store, make_drawer: MakeDrawer
) -> None:
    for _ in range(300):
        drawers.file(store, make_drawer())
    began = time.monotonic()
    with pytest.raises(TimedOut) as refused:
        store.query(ENDLESS, timeout=0.2)
    assert time.monotonic() - began < 1.5
    assert refused.value.code == "memcastle::search::timed_out"
    before = _processor_seconds()
    time.sleep(0.5)
    assert _processor_seconds() - before < 0.25
    assert store.query("RETURN 1", timeout=1) == 1


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def test_a_slow_read_stops_nobody_else(store: Store) -> None:
    slow = _started(lambda: store.query("RETURN sleep(1s)"))
    began = time.monotonic()
    assert [store.query("RETURN 1") for _ in range(5)] == [1] * 5
    assert time.monotonic() - began < 0.8
    slow.join()


def test_closing_awaits_a_write_and_cancels_reads() -> None:
    store = Store(Address("mem://"))
    store.open()
    told: dict[str, Any] = {}

    def ask(name: str, work: Callable[[], Any]) -> None:
        try:
            told[name] = work()
        except PalaceError as error:
            told[name] = error

    reader = _started(ask, "read", lambda: store.query("RETURN sleep(20s)"))
    writer = _started(ask, "write", lambda: store.write("{ sleep(500ms); RETURN 7 }"))
    time.sleep(0.2)
    store.close()
    reader.join(5)
    writer.join(5)
    assert told["write"] == 7
    assert isinstance(told["read"], OperationFailed)


def _started(work: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


# Long enough to have work done and the engine's threads running when the interpreter ends.
EXITS = """
import sys, threading
from palace.store.connection import Address, Store
store = Store(Address(sys.argv[1]))
threads = [threading.Thread(target=store.query, args=("RETURN 1",)) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_a_process_that_forgets_to_close_ends_well_every_time(tmp_path: Path) -> None:
    urls = [f"surrealkv://{tmp_path}/palace", "mem://"] * 6
    ended = [run(EXITS, url) for url in urls]
    assert [one.returncode for one in ended] == [0] * len(ended), ended[-1].stderr


@pytest.mark.parametrize(
    "value",
    [date(2026, 5, 4), 2**70, "\ud800", np.float32(1), object(), {"a": {"b": "\udfff"}}],
    ids=["date", "large", "surrogate", "numpy", "object", "nested"],
)
def test_values_the_driver_cannot_take_are_invalid_input(store: Store, value: object) -> None:
    for ask in (store.query, store.write):
        with pytest.raises(InvalidInput) as refused:
            ask("RETURN $value", value=value)
        assert refused.value.code == "memcastle::input::value"


@pytest.mark.parametrize(
    "sql", ["SELECT FROM WHERE", "SELECT * FROM nowhere", "RETURN type::int('x')"]
)
def test_what_the_engine_refuses_has_a_code(store: Store, sql: str) -> None:
    with pytest.raises(OperationFailed) as refused:
        store.query(sql)
    assert refused.value.code == "memcastle::store::failed"


def test_a_failed_block_writes_nothing(store: Store) -> None:
    block = "{ CREATE wing:x SET name = 'x', created_at = time::now(); THROW 'no' }"
    with pytest.raises(OperationFailed):
        store.write(block)
    assert store.query("SELECT VALUE id FROM wing") == []


def test_the_engines_time_limit_is_told_as_ours(store: Store, make_drawer: MakeDrawer) -> None:
    for _ in range(200):
        drawers.file(store, make_drawer())
    with pytest.raises(TimedOut):
        store.query(f"{ENDLESS} TIMEOUT 50ms")


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(OperationFailed) as refused:
        Store(Address("ws://127.0.0.1:9", password="hidden")).open()
    assert refused.value.code == "memcastle::store::unavailable"
    assert "MEMCASTLE_PALACE_URL" in refused.value.help


def test_an_address_does_not_show_its_password() -> None:
    assert "hidden" not in repr(Address("ws://127.0.0.1:9", user="me", password="hidden"))


def test_contended_writes_are_all_kept(store: Store) -> None:
    block = (
        "{ UPSERT meta:n SET version = (version ?? 0) + 1, marker = '', created_at = time::now() }"
    )
    threads = [_started(store.write, block) for _ in range(20)]
    for thread in threads:
        thread.join()
    assert store.query("SELECT VALUE version FROM ONLY meta:n") == 20
    assert store.version == 20
