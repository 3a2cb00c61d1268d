"""`import_jsonl` and `export` as commands: files, pipes, gzip, exit codes, kill -9."""

from __future__ import annotations

import gzip
import json
import random
import signal
import subprocess
import time

from tests.commands.conftest import ROOT, command


def rows(number: int) -> list[dict[str, object]]:
    return [
        {
            "wing": "w",
            "room": f"r{place % 3}",
            "key": f"k{place // 4}",
            "name": f"n{place // 4}",
            "content": f"text number {place} about the tide",
            "valid_from": f"2026-01-{place % 4 + 1:02d}",
        }
        for place in range(number)
    ]


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def exported(manage, *options: str) -> list[dict[str, object]]:
    done = manage("export", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def timeless(lines):
    """Exported drawers without the record times, which are those of each import."""
    return [
        {key: value for key, value in line.items() if key not in ("created_at", "closed_at")}
        for line in lines
        if line["type"] == "drawer"
    ]


def test_a_palace_comes_out_as_it_went_in(manage, tmp_path, environment):
    assert manage("import_jsonl", write(tmp_path / "in.jsonl", rows(10))).returncode == 0
    packed = tmp_path / "out.jsonl.gz"
    assert manage("export", str(packed)).returncode == 0
    first = gzip.decompress(packed.read_bytes()).splitlines()
    environment["MEMCASTLE_DATA_DIR"] = str(tmp_path / "second")
    again = manage("import_jsonl", str(packed))
    assert again.returncode == 0, again.stderr
    second = manage("export").stdout.encode().splitlines()
    assert second[1:] == first[1:]
    assert len(second) == 15


def test_standard_input_and_a_bad_line(manage):
    lines = [json.dumps(rows(1)[0]), "{broken", json.dumps({"wing": "w"})]
    done = manage("import_jsonl", "-", stdin="\n".join(lines))
    assert done.returncode == 1
    assert "Line 2: The line is not JSON" in done.stderr
    assert "Line 3" in done.stderr
    assert len(timeless(exported(manage))) == 1


def test_strict_stops_and_a_missing_file_is_told(manage):
    done = manage("import_jsonl", "-", "--strict", stdin="{broken\n")
    assert done.returncode == 1
    assert "Nothing was written" in done.stderr
    missing = manage("import_jsonl", "/nowhere/file.jsonl")
    assert missing.returncode == 1
    assert "cannot be read" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_export_takes_the_filters_of_search(manage, tmp_path):
    manage("import_jsonl", write(tmp_path / "in.jsonl", rows(8)))
    done = manage("export", "--as-of", "2026-01-02", "--wing", "w")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[0]["scope"] == {"wing": "w", "as_of": "2026-01-02"}
    assert {row["content"] for row in found if row["type"] == "drawer"} == {
        "text number 1 about the tide",
        "text number 5 about the tide",
    }
    mention = {"type": "mention", "drawer": "k1", "entity": "Ada", "kind": "person"}
    manage("import_jsonl", "-", stdin=json.dumps(mention))
    found = exported(manage, "--entity", "ada")
    assert {row["key"] for row in found if row["type"] == "drawer"} == {"k1"}
    refused = manage("export", "--as-of", "yesterday")
    assert refused.returncode == 1
    assert "YYYY-MM-DD" in refused.stderr


def test_a_killed_import_loses_and_doubles_nothing(manage, tmp_path, environment):
    """Ten times: kill -9 at a random point, open again, run again."""
    lines = rows(1200)
    path = write(tmp_path / "in.jsonl", lines)
    environment["MEMCASTLE_DATA_DIR"] = str(tmp_path / "whole")
    assert manage("import_jsonl", path).returncode == 0
    whole = timeless(exported(manage))
    environment["MEMCASTLE_DATA_DIR"] = str(tmp_path / "killed")
    chance = random.Random(5)
    for _ in range(10):
        run = subprocess.Popen(
            command("import_jsonl", path),
            env=environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.5, 2.0))
        run.send_signal(signal.SIGKILL)
        run.wait()
    done = manage("import_jsonl", path)
    assert done.returncode == 0, done.stderr
    assert timeless(exported(manage)) == whole
    assert len(whole) == 1200
