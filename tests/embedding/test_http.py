"""The http provider before a real server with every fault seen of such servers."""

from __future__ import annotations

import base64
import logging
import math
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from palace.domain.embedding import PROBE_TEXT, check_vector, pad, same_model
from palace.embedding.answers import retry_after
from palace.embedding.http import HttpProvider, endpoint
from palace.embedding.provider import (
    DimensionMismatch,
    EmbedSettings,
    NotConfigured,
    ProviderFailed,
    Secret,
    TextRefused,
)
from tests.embedding.conftest import Answer, FakeServer, good, vector

CANARY = "sk-canary-51c2e09d"


@pytest.fixture
def provider(server):
    return made(server)


def made(server: FakeServer, **settings) -> HttpProvider:
    return HttpProvider(EmbedSettings(provider="http", url=server.url, model="m", **settings))


def embed(provider, *texts, timeout=5.0):
    return provider.embed(texts, kind="passage", timeout=timeout)


def test_texts_become_unit_vectors_in_their_order(provider, server):
    vectors = embed(provider, "a", "bbb")
    assert np.allclose(vectors[1], check_vector(vector("bbb")))
    assert [round(float(np.linalg.norm(one)), 4) for one in vectors] == [1.0, 1.0]
    assert embed(provider) == []
    assert len(server.asked) == 1


# 1. base64 where floats are asked


def test_floats_are_asked_for_and_base64_is_refused(provider, server):
    packed = base64.b64encode(np.ones(768, dtype="<f4").tobytes()).decode()
    server.behave = lambda texts: Answer({"data": [{"index": 0, "embedding": packed}]})
    with pytest.raises(ProviderFailed, match="base64") as told:
        embed(provider, "a")
    assert server.asked[0].body["encoding_format"] == "float"
    assert "float" in told.value.help


def test_a_quarter_of_the_length_is_refused(provider, server):
    server.behave = lambda texts: good(texts, 192)
    with pytest.raises(DimensionMismatch):
        embed(provider, "a")


# 2. `dimensions` ignored, 3. `dimensions` refused


def test_dimensions_are_sent_only_when_set(server):
    embed(made(server), "a")
    embed(made(server, dimensions=768), "a")
    assert "dimensions" not in server.asked[0].body
    assert server.asked[1].body["dimensions"] == 768


def test_ignored_dimensions_are_found_in_every_vector(server):
    def behave(texts):
        rows = [vector(text, 768 if at < 2 else 1536) for at, text in enumerate(texts)]
        return Answer({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]})

    server.behave = behave
    with pytest.raises(DimensionMismatch, match="1536"):
        embed(made(server, dimensions=768), "a", "b", "c")


def test_shorter_vectors_are_filled_when_that_is_set(server):
    server.behave = lambda texts: good(texts, 384)
    (found,) = embed(made(server, native_dimension=384), "abc")
    assert np.allclose(found, pad(vector("abc", 384), 384))


# 4. order


def rows_with(indexes):
    def behave(texts):
        pairs = zip(indexes, texts, strict=True)
        return Answer(
            {
                "data": [
                    {"embedding": vector(text)} | ({} if index is None else {"index": index})
                    for index, text in pairs
                ]
            }
        )

    return behave


def test_vectors_are_placed_by_their_index(provider, server):
    server.behave = rows_with([2, 0, 1])
    vectors = embed(provider, "a", "bb", "ccc")
    assert [int(one[0] / one[1] + 0.5) for one in vectors] == [2, 3, 1]


def test_no_index_at_all_means_the_order_sent(provider, server):
    server.behave = rows_with([None, None])
    assert [int(one[0] / one[1] + 0.5) for one in embed(provider, "a", "bb")] == [1, 2]


@pytest.mark.parametrize(
    "indexes", [[0, 0], [0, 2], [1, 2], [0, None], ["0", "1"], [0.0, 1.0], [False, True], [-1, 0]]
)
def test_doubles_gaps_and_odd_indexes_are_refused(provider, server, indexes):
    server.behave = rows_with(indexes)
    with pytest.raises(ProviderFailed, match="numbers its vectors wrongly"):
        embed(provider, "a", "bb")


# 5. another count


@pytest.mark.parametrize("given", [0, 1, 3])
def test_another_count_fails_the_batch(provider, server, given):
    server.behave = lambda texts: good(["x"] * given)
    with pytest.raises(ProviderFailed, match=f"{given} vectors for 2 texts"):
        embed(provider, "a", "b")


# 6. addresses


@pytest.mark.parametrize(
    ("base", "called"),
    [
        ("http://h:1", "http://h:1/v1/embeddings"),
        ("http://h:1/", "http://h:1/v1/embeddings"),
        ("http://h:1/v1", "http://h:1/v1/embeddings"),
        ("http://h:1/v1/", "http://h:1/v1/embeddings"),
        (" http://h:1/v1/embeddings/ ", "http://h:1/v1/embeddings"),
        ("http://h:1/embeddings", "http://h:1/embeddings"),
        ("https://h/openai//v1", "https://h/openai/v1/embeddings"),
        ("https://h/compat/v3", "https://h/compat/v3/embeddings"),
        ("http://[::1]:80", "http://[::1]:80/v1/embeddings"),
    ],
)
def test_every_way_to_write_the_address_leads_to_one(base, called):
    assert endpoint(base) == called


@pytest.mark.parametrize("tail", ["", "/v1", "/v1/embeddings/"])
def test_the_address_shown_is_the_one_called(server, tail):
    provider = HttpProvider(EmbedSettings(url=server.url + tail, model="m"))
    embed(provider, "a")
    assert provider.url == server.url + server.asked[0].path == server.url + "/v1/embeddings"


@pytest.mark.parametrize(
    "base",
    [
        "",
        "h:1",
        "ftp://h",
        "http://",
        "http://h:99999",
        "http://[::1",
        "http://h/?key=x",
        "http://h/#x",
    ],
)
def test_what_is_no_address_is_refused(base):
    with pytest.raises(NotConfigured):
        endpoint(base)


def test_a_password_in_the_address_is_refused_without_being_repeated():
    with pytest.raises(NotConfigured) as told:
        endpoint(f"http://user:{CANARY}@h/v1")
    assert CANARY not in told.value.message + told.value.help


def test_a_model_is_needed(server):
    with pytest.raises(NotConfigured, match="MEMCASTLE_EMBED_MODEL"):
        HttpProvider(EmbedSettings(url=server.url))


# 7. blank texts


def test_blank_texts_are_never_sent(provider, server):
    with pytest.raises(TextRefused) as told:
        embed(provider, "a", " \n\t")
    assert (told.value.indexes, server.asked) == ((1,), [])


# 8. vectors that point nowhere


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 0.0, None, True, "1"])
def test_a_vector_without_direction_names_its_text(provider, server, wrong):
    def behave(texts):
        answer = good(texts)
        answer.body["data"][1]["embedding"] = [wrong] * 768
        return answer

    server.behave = behave
    with pytest.raises(TextRefused) as told:
        embed(provider, "a", "b", "c")
    assert told.value.indexes == (1,)


# 9. over-long texts


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "This model's maximum context length is 512 tokens"}}),
        (413, "<html><h1>Request Entity Too Large</h1></html>"),
        (422, {"error": "Input validation error: inputs must have less than 512 tokens"}),
        (500, {"error": {"code": 500, "message": "input is too large to process"}}),
    ],
)
def test_one_long_text_is_halved_and_its_mates_are_kept(provider, server, status, body):
    def behave(texts):
        return Answer(body, status) if max(map(len, texts)) > 2_000 else good(texts)

    server.behave = behave
    vectors = embed(provider, "a", "x" * 7_000, "b", "c")
    lengths = [round(float(one[0] / one[1])) for one in vectors]
    assert lengths == [1, 1_750, 1, 1]
    assert provider.shortened == 1
    before = len(server.asked)
    embed(provider, *"abcd")
    assert len(server.asked) == before + 1


def test_a_text_refused_at_any_length_is_told(provider, server):
    server.behave = lambda texts: Answer({"error": "too long"}, 413)
    with pytest.raises(TextRefused) as told:
        embed(provider, "x" * 4_000)
    assert told.value.indexes == (0,)
    assert len(server.asked) < 8


# 10. too many texts


def test_a_batch_too_big_is_halved_and_the_working_size_remembered(provider, server):
    def behave(texts):
        too_many = Answer({"error": "batch size 64 > maximum allowed batch size 32"}, 422)
        return too_many if len(texts) > 32 else good(texts)

    server.behave = behave
    texts = [f"text {number}" for number in range(100)]
    vectors = embed(provider, *texts)
    assert [round(float(one[0] / one[1])) for one in vectors] == [len(text) for text in texts]
    server.asked.clear()
    embed(provider, *texts)
    assert max(server.sizes) <= 32
    assert sum(server.sizes) == 100


# 11. a poisoned text


def poisoned(status, body):
    def behave(texts):
        return Answer(body, status) if any("poison" in text for text in texts) else good(texts)

    return behave


def test_a_refused_batch_is_told_to_be_bisected_and_a_single_text_by_its_place(provider, server):
    server.behave = poisoned(400, {"error": {"message": "content policy"}})
    with pytest.raises(TextRefused, match="content policy") as told:
        embed(provider, "a", "poison")
    assert told.value.indexes == ()
    with pytest.raises(TextRefused) as told:
        embed(provider, "poison")
    assert told.value.indexes == (0,)


@pytest.mark.usefixtures("quick_retries")
def test_a_lasting_500_is_the_texts_fault_when_a_plain_text_goes_through(provider, server):
    server.behave = poisoned(500, "boom")
    with pytest.raises(TextRefused):
        embed(provider, "poison")
    assert server.asked[-1].body["input"] == [PROBE_TEXT]
    server.behave = lambda texts: Answer("boom", 500)
    with pytest.raises(ProviderFailed) as told:
        embed(provider, "poison")
    assert told.value.transient


# 12. prefixes


def test_queries_and_passages_have_their_own_prefix(server):
    provider = made(server, query_prefix="query: ", passage_prefix="passage: ")
    provider.embed(["a"], kind="query")
    provider.embed(["a"], kind="passage")
    assert [one.body["input"] for one in server.asked] == [["query: a"], ["passage: a"]]


# 13. numbers that are not of length one


def test_whole_numbers_and_long_vectors_come_out_at_length_one(provider, server):
    row = [127, -128] * 384
    server.behave = lambda texts: Answer({"data": [{"index": 0, "embedding": row}]})
    (found,) = embed(provider, "a")
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-5)


# 14. shapes of errors


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no such model", "type": "x"}},
        {"error": "no such model"},
        {"object": "error", "message": "no such model"},
        {"detail": "no such model"},
        "<html><body><h1>no such model</h1></body></html>",
    ],
)
@pytest.mark.parametrize("status", [200, 404])
def test_every_shape_of_error_is_told(provider, server, body, status):
    server.behave = lambda texts: Answer(body, status)
    with pytest.raises(ProviderFailed, match="no such model") as told:
        embed(provider, "a")
    assert not told.value.transient
    assert len(server.asked) == 1
    assert len(told.value.message) < 400


@pytest.mark.parametrize(
    "body",
    ["[]", "null", "{}", '{"data": null}', '{"data": [1]}', '{"data": [{}]}', "", "[" * 99999],
)
def test_a_200_without_vectors_is_a_failure(provider, server, body):
    server.behave = lambda texts: Answer(body)
    with pytest.raises(ProviderFailed):
        embed(provider, "a")


def test_a_key_that_is_refused_says_which_setting(provider, server):
    server.behave = lambda texts: Answer({"error": {"message": "bad key"}}, 401)
    with pytest.raises(ProviderFailed) as told:
        embed(provider, "a")
    assert "MEMCASTLE_EMBED_API_KEY" in told.value.help


# 15. another model behind the same name


def test_the_probe_finds_a_model_that_was_swapped(provider, server):
    (kept,) = embed(provider, PROBE_TEXT)
    assert same_model(embed(provider, PROBE_TEXT)[0], kept)
    server.behave = lambda texts: Answer({"data": [{"index": 0, "embedding": vector("x")[::-1]}]})
    assert not same_model(embed(provider, PROBE_TEXT)[0], kept)


# Retries


def failing(times, answer):
    left = [times]

    def behave(texts):
        left[0] -= 1
        return answer if left[0] >= 0 else good(texts)

    return behave


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(provider, server, status):
    server.behave = failing(2, Answer("busy", status))
    assert len(embed(provider, "a")) == 1
    assert len(server.asked) == 3


@pytest.mark.usefixtures("quick_retries")
def test_what_does_not_pass_fails_as_transient(provider, server):
    server.behave = lambda texts: Answer("busy", 503)
    with pytest.raises(ProviderFailed, match="503") as told:
        embed(provider, "a")
    assert told.value.transient
    assert len(server.asked) == 4


@pytest.mark.parametrize("status", [401, 403, 404, 405, 409, 410])
def test_other_refusals_are_not_tried_again(provider, server, status):
    server.behave = lambda texts: Answer("no", status)
    with pytest.raises(ProviderFailed):
        embed(provider, "a")
    assert len(server.asked) == 1


def test_retry_after_is_obeyed(provider, server):
    server.behave = failing(1, Answer("slow down", 429, {"Retry-After": "1"}))
    began = time.monotonic()
    embed(provider, "a")
    assert 1 <= time.monotonic() - began < 2


@pytest.mark.parametrize("pause", ["3600", "31"])
def test_a_pause_beyond_the_bound_fails_at_once(provider, server, pause):
    server.behave = lambda texts: Answer("later", 503, {"Retry-After": pause})
    began = time.monotonic()
    with pytest.raises(ProviderFailed) as told:
        embed(provider, "a", timeout=60)
    assert told.value.transient
    assert time.monotonic() - began < 1
    assert len(server.asked) == 1


def test_retry_after_is_read_as_seconds_or_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    assert retry_after("7") == 7
    assert retry_after(date) == pytest.approx(20, abs=2)
    assert retry_after("soon") is retry_after("") is retry_after(None) is None


@pytest.mark.usefixtures("quick_retries")
def test_a_server_that_is_not_there_is_transient():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    provider = HttpProvider(EmbedSettings(url=url, model="m"))
    with pytest.raises(ProviderFailed, match="cannot be reached") as told:
        embed(provider, "a")
    assert told.value.transient


def silent(texts):
    time.sleep(1.5)
    return good(texts)


def dripping(texts):
    return Answer(good(texts).body, drip=0.05)


@pytest.mark.parametrize("behave", [silent, dripping])
def test_a_slow_server_is_left_in_time(provider, server, behave):
    server.behave = behave
    began = time.monotonic()
    with pytest.raises(ProviderFailed) as told:
        embed(provider, "a", timeout=0.3)
    assert told.value.transient
    assert time.monotonic() - began < 1


# Redirects, proxies, NUL


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_refused(provider, server, status):
    where = {"Location": server.url + "/v1/embeddings"}
    server.behave = lambda texts: Answer("", status, where)
    with pytest.raises(ProviderFailed, match="redirect"):
        embed(provider, "a")
    assert len(server.asked) == 1


def test_proxies_of_the_environment_are_ignored(server, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert len(embed(made(server), "a")) == 1


def test_nul_is_taken_out(provider, server):
    embed(provider, "be\0fore")
    assert server.asked[0].body["input"] == ["before"]


def test_it_works_again_after_close(provider):
    provider.close()
    assert len(embed(provider, "a")) == 1


# The key


def test_the_key_is_sent_and_shows_nowhere_else(server, caplog):
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "stamina"):
        caplog.set_level(logging.DEBUG, logger=name)
    provider = made(server, api_key=Secret(CANARY + "\n"))
    told = [repr(provider), repr(vars(provider))]
    echo = {"error": {"message": f"Incorrect API key provided: {CANARY}"}}
    answers = [
        Answer(echo, 401),
        Answer(echo, 400),
        Answer(echo, 200),
        Answer(f"<p>{CANARY}</p>", 302),
        Answer(f"{' ' * 190}{CANARY}", 404),
        Answer("busy", 503, {"Retry-After": "0"}),
    ]
    for answer in answers:
        server.behave = lambda texts, answer=answer: answer
        with pytest.raises((ProviderFailed, TextRefused)) as failed:
            embed(provider, "a")
        told += [repr(failed.value), failed.value.message, failed.value.help]
        told.append(repr(failed.getrepr(showlocals=False)))
    server.behave = good
    embed(provider, "a")
    assert server.asked[0].headers["Authorization"] == f"Bearer {CANARY}"
    assert any(record.name.startswith("httpcore") for record in caplog.records)
    assert not any(CANARY in text for text in [*told, caplog.text])


def test_without_a_key_no_header_is_sent(provider, server):
    embed(provider, "a")
    assert "Authorization" not in server.asked[0].headers


@pytest.mark.parametrize("key", ["a b", "a\nb", "schlüssel", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(server, key):
    with pytest.raises(NotConfigured) as told:
        made(server, api_key=Secret(key))
    assert key not in told.value.message
