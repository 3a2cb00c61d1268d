"""The jobs page, and the acts on it: staff only, by POST."""

from __future__ import annotations

import shlex
import sys

import pytest

from palace import opening
from palace.embedding import desk

PROGRAM = """
import json, sys
from palace.embedding.hashing import HashingProvider
provider = HashingProvider()
for line in sys.stdin:
    asked = json.loads(line)
    vectors = [one.tolist() for one in provider.embed(asked["texts"], kind=asked["kind"])]
    answer = {"version": 1, "id": asked["id"], "model": "hashing", "vectors": vectors}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def provider(settings, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    settings.MEMCASTLE_EMBED_PROVIDER = "command"
    settings.MEMCASTLE_EMBED_COMMAND = shlex.join(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, '.'); exec(open({str(program)!r}).read())",
        ]
    )
    settings.MEMCASTLE_EMBED_MODEL = "hashing"


def test_without_a_provider_the_page_says_what_to_set(client):
    html = client.get("/jobs/").content.decode()
    assert "MEMCASTLE_EMBED_PROVIDER" in html
    assert ">Jobs</a>" not in html


def test_a_reader_sees_and_may_not_act(client, file, provider):
    file("the tide")
    html = client.get("/jobs/").content.decode()
    assert "0 of 1 drawers" in html
    assert "<button class=" not in html.split('<main id="main"')[1].split("</main>")[0]
    assert client.post("/jobs/queue/").status_code == 403
    assert client.get("/jobs/queue/").status_code == 405


def test_staff_queue_a_job_that_embeds_and_search_finds_by_meaning(admin_client, file, provider):
    drawer = file("the ferry leaves at noon")
    assert admin_client.post("/jobs/queue/").status_code == 302
    worker = opening.background.wake(
        opening.store(), opening.embedder(), opening.embed_settings(), opening.clock, queue=False
    )
    assert worker is not None
    for _ in range(200):
        listed = desk.listed(opening.store(), 1)
        if listed and listed[0].is_over:
            break
        worker._thread.join(0.05)
    html = admin_client.get("/jobs/").content.decode()
    assert "completed" in html
    assert "1 of 1 drawers" in html
    found = admin_client.get("/search/?q=ferry&ranking=semantic").content.decode()
    assert drawer.id in found
    assert "meaning" in found


def test_acts_are_told_when_they_are_none(admin_client, file, provider):
    job = desk.submit(opening.store(), {}, opening.clock())
    assert admin_client.post(f"/jobs/{job.id}/dance/").status_code in (400, 404)
    assert admin_client.post(f"/jobs/{job.id}/cancel/").status_code == 302
    assert "cancelled" in admin_client.get("/jobs/").content.decode()
