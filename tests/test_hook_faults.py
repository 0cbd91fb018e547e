"""What becomes of a call when `microloop hook` itself cannot do its work."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing

import pytest

from hook_host import DIALECTS, Host

REFUSED, NOTICE = 2, 1
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.fixture
def host(tmp_path):
    def make(dialect="claude-code", on_error="block"):
        policy = tmp_path / "policy.yaml"
        policy.write_text(f"version: 1\non_error: {on_error}\n", encoding="utf-8")
        return Host(dialect, tmp_path / "store.sqlite3", str(policy))

    return make


@every_dialect
@pytest.mark.parametrize(("on_error", "code"), [("block", REFUSED), ("allow", NOTICE)])
def test_a_store_that_is_no_store_is_named_and_on_error_decides(host, dialect, on_error, code):
    agent = host(dialect, on_error)
    agent.store.write_bytes(b"this is no database, but long enough to be taken for one" * 100)
    reply = agent.tell("before")
    assert (reply.code, reply.stdout) == (code, "")
    assert f"{agent.store}: file is not a database; see that" in reply.stderr
    assert ("the call is refused" in reply.stderr) is (on_error == "block")


def test_a_store_in_which_pages_are_broken_is_noticed(host):
    agent = host()
    agent.tell("before")
    whole = agent.store.read_bytes()
    agent.store.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    reply = agent.tell("before")
    assert (reply.code, reply.stdout) == (REFUSED, "")
    assert "malformed" in reply.stderr


def test_a_store_of_another_version_is_refused(host):
    agent = host()
    with closing(sqlite3.connect(agent.store)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    reply = agent.tell("before")
    assert reply.code == REFUSED
    assert "has version 99" in reply.stderr


def test_a_place_where_nothing_can_be_written_is_named(host, tmp_path):
    agent = host()
    agent.store = tmp_path / "policy.yaml" / "store.sqlite3"
    reply = agent.tell("before")
    assert reply.code == REFUSED
    assert "policy.yaml" in reply.stderr


@pytest.mark.parametrize(("on_error", "code"), [("block", REFUSED), ("allow", NOTICE)])
def test_who_waits_too_long_for_another_process_gives_up(host, on_error, code):
    agent = host(on_error=on_error)
    agent.tell("before")
    other = sqlite3.connect(agent.store, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        reply = agent.tell("before")
    finally:
        other.close()
    assert reply.code == code
    assert "another process held it for 5 seconds" in reply.stderr


BROKEN = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}", b"[" * 100_000, b'{"hook_event_name": 7}']


@pytest.mark.parametrize("payload", BROKEN, ids=range(len(BROKEN)))
@pytest.mark.parametrize(("on_error", "code"), [("block", REFUSED), ("allow", NOTICE)])
def test_what_is_no_event_is_refused(host, payload, on_error, code):
    reply = host(on_error=on_error).send(payload)
    assert (reply.code, reply.stdout) == (code, "")
    assert reply.stderr.startswith("microloop hook failed (PayloadError: ")


@every_dialect
@pytest.mark.parametrize("field", ["session_id", "tool_name"])
def test_a_call_that_lacks_a_field_is_refused_by_its_name(host, dialect, field):
    reply = host(dialect).tell("before", **{field: None})
    assert reply.code == REFUSED
    assert f'"{field}" is missing' in reply.stderr


def test_a_fault_does_not_quote_the_arguments(host):
    reply = host().tell("before", tool_input={"password": "hunter2"}, tool_name=["hunter2"])
    assert reply.code == REFUSED
    assert "hunter2" not in reply.stderr


def test_arguments_that_the_core_refuses_are_refused_with_a_verdict(host):
    reply = host().tell("before", tool_input={"n": 10**40})
    assert reply.code == 0
    assert "not valid JSON" in reply.denied


@every_dialect
@pytest.mark.parametrize("name", ["after", "prompt", "stop"])
def test_only_a_call_is_ever_refused(host, dialect, name):
    agent = host(dialect)
    agent.store.write_bytes(b"this is no database, but long enough to be taken for one" * 100)
    reply = agent.tell(name)
    assert (reply.code, reply.stdout) == (NOTICE, "")
    assert "took no note of this" in reply.stderr


@pytest.mark.parametrize("policy", ["no_such_policy", "no/such/file.yaml"])
def test_where_no_policy_can_be_read_the_call_is_refused(host, policy):
    agent = host()
    agent.policy = policy
    reply = agent.tell("before")
    assert (reply.code, reply.stdout) == (REFUSED, "")
    assert "PolicyError" in reply.stderr


def test_a_policy_that_is_wrong_is_refused_with_its_place(host, tmp_path):
    agent = host()
    (tmp_path / "policy.yaml").write_text("version: 1\nloops: {repaet: 3}\n", encoding="utf-8")
    reply = agent.tell("before")
    assert reply.code == REFUSED
    assert "policy.yaml:2:9" in reply.stderr


def test_on_error_of_a_tool_goes_before_that_of_the_policy(host, tmp_path):
    agent = host()
    text = "version: 1\ntools: [{match: Bash, on_error: allow}]\n"
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    agent.store.write_bytes(b"this is no database, but long enough to be taken for one" * 100)
    assert agent.tell("before").code == NOTICE
    assert agent.tell("before", tool_name="Write").code == REFUSED


def test_an_event_that_no_decision_depends_on_is_told_apart_from_a_yes(host):
    reply = host().tell("notification")
    assert (reply.code, reply.stdout) == (NOTICE, "")
    assert "nothing to do at Notification" in reply.stderr


@pytest.mark.parametrize(("dialect", "given"), [("claude-code", "gemini"), ("gemini", "codex")])
def test_a_dialect_that_has_no_such_event_is_refused(host, dialect, given):
    agent = host(dialect)
    reply = agent.send(agent.payload("before"), "--dialect", given)
    assert reply.code == REFUSED
    assert f"the dialect is {given}" in reply.stderr


@every_dialect
def test_without_the_native_library_calls_are_refused(host, dialect):
    agent = host(dialect)
    start = "import sys; sys.modules['microloop._lowlevel'] = None; from microloop.cli import main; main()"
    agent.command = lambda: [sys.executable, "-c", start, "hook", "--policy", agent.policy, "--store", str(agent.store)]
    reply = agent.tell("before")
    assert (reply.code, reply.stdout) == (REFUSED, "")
    assert "the native part of microloop cannot be loaded" in reply.stderr
