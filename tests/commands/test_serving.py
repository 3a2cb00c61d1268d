"""`explore` and commands beside a running server: rows go through it, or are told why not."""

from __future__ import annotations

import json
import re
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.commands.conftest import ROOT, command, environment_of, managing


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Served:
    """An explorer in a process of its own."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.address = f"http://127.0.0.1:{free_port()}"
        self.data_dir = Path(environment["MEMCASTLE_DATA_DIR"])
        self.environment = {**environment, "MEMCASTLE_BIND": self.address.removeprefix("http://")}
        self.process = subprocess.Popen(
            command("explore"),
            env=self.environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(300):
            try:
                httpx.get(f"{self.address}/health/")
                return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError("the explorer does not answer")

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        said, _ = self.process.communicate(timeout=30)
        return said


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One explorer for the tests below; the last one stops it."""
    explorer = Served(environment_of(tmp_path_factory.mktemp("served") / "data dir"))
    yield explorer
    if explorer.process.poll() is None:
        explorer.stop()


def test_explore_prepares_and_serves_the_demo(served):
    page = httpx.get(served.address)
    assert page.status_code == 200
    assert "This is the demo palace" in page.text
    assert stat.S_IMODE((served.data_dir / "server.json").stat().st_mode) == 0o600


def test_export_beside_a_server_says_what_to_do(served):
    done = managing(served.environment)("export")
    assert done.returncode == 1
    assert str(served.data_dir) in done.stderr
    assert "Stop the server" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_import_route_wants_the_token_of_this_server(served):
    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        answer = httpx.post(f"{served.address}/api/import", headers=headers, content=b"{}\n")
        assert answer.status_code == 401
        assert answer.json()["code"] == "memcastle::auth::unauthorized"


def test_a_busy_port_is_told(served):
    done = subprocess.run(
        command("explore"), env=served.environment, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "MEMCASTLE_BIND" in done.stderr
    assert "Traceback" not in done.stderr


def test_rows_go_through_the_running_server(served, tmp_path):
    manage = managing(served.environment)
    rows = [{"wing": "w", "room": "r", "content": f"text {number} of mine"} for number in range(30)]
    path = tmp_path / "rows.jsonl"
    half = json.dumps({"wing": "w", "room": "r", "content": "half \ud800"})
    lines = [*map(json.dumps, rows), "{bad", "", "", half]
    path.write_text("\n".join(lines), encoding="utf-8")
    done = manage("import_jsonl", str(path))
    assert done.returncode == 1
    assert "Filed 30 drawers" in done.stderr
    assert "Line 31: The line is not JSON" in done.stderr
    assert "Line 34: The content holds half of a surrogate pair" in done.stderr
    assert "This is the demo palace" not in httpx.get(served.address).text
    found = httpx.get(f"{served.address}/api/search", params={"q": "mine"}).json()
    assert found["total"] == 30
    again = manage("import_jsonl", str(path))
    assert "30 drawers there already" in again.stderr


def test_it_ends_cleanly_and_starts_again(served):
    said = served.stop()
    assert re.search(r"Account: admin   Password: \S{12,}", said)
    assert served.address in said
    assert served.process.returncode == 0
    assert not (served.data_dir / "server.json").exists()
    again = Served(served.environment)
    assert "This is the demo palace" not in httpx.get(again.address).text
    assert "Password" not in again.stop()


def test_settings_that_make_no_provider_are_told_before_serving(environment):
    environment |= {"MEMCASTLE_EMBED_PROVIDER": "dream"}
    environment |= {"MEMCASTLE_BIND": f"127.0.0.1:{free_port()}"}
    done = subprocess.run(
        command("explore"), env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "MEMCASTLE_EMBED_PROVIDER" in done.stderr
    assert "Traceback" not in done.stderr


def test_runserver_works_too(environment, data_dir, manage, tmp_path):
    """Without the reloader; the palace opens lazily and commands find the server."""
    assert manage("migrate", "-v0").returncode == 0
    port = free_port()
    run = subprocess.Popen(
        command("runserver", str(port), "--noreload"),
        env=environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            try:
                assert httpx.get(f"http://127.0.0.1:{port}/").status_code == 200
                break
            except httpx.TransportError:
                time.sleep(0.1)
        path = tmp_path / "one.jsonl"
        path.write_text('{"wing": "w", "room": "r", "content": "one"}', encoding="utf-8")
        done = manage("import_jsonl", str(path))
        assert done.returncode == 0, done.stderr
        assert "1 memory" in httpx.get(f"http://127.0.0.1:{port}/").text
    finally:
        run.terminate()
        run.wait(20)


def test_commands_end_with_exit_code_0_again_and_again(manage, tmp_path):
    """The engine once aborted one exit in five; a store is closed before the interpreter ends."""
    path = tmp_path / "one.jsonl"
    path.write_text('{"wing": "w", "room": "r", "content": "one"}', encoding="utf-8")
    codes = [manage("import_jsonl", str(path)).returncode for _ in range(12)]
    assert codes == [0] * 12
