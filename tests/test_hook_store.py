"""What `microloop hook` keeps between its processes, and that several at once do not get in each other's way."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest

from hook_host import Host, read
from microloop import Guardrail

AT_ONCE = 8
SECRET = "hunter2-in-the-arguments"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "store.sqlite3"


def rows(path, query):
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(query).fetchall()


def steps(path):
    """How many steps the only session of the store has counted."""
    [(saved,)] = rows(path, "SELECT saved FROM sessions")
    return Guardrail("coding_agent").restore("run", saved).state()["steps"]


def at_once(agent, payloads):
    processes = [
        subprocess.Popen(agent.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in payloads
    ]
    for process, payload in zip(processes, payloads, strict=True):
        process.stdin.write(payload)
        process.stdin.close()
    said = [(process.stdout.read(), process.stderr.read(), process.wait(timeout=60)) for process in processes]
    for process in processes:
        process.stdout.close()
        process.stderr.close()
    return said


def test_processes_at_once_lose_no_step_and_break_nothing(path):
    agent = Host("claude-code", path)
    calls = [{"tool_use_id": f"call {n}", "tool_input": {"command": f"echo {n}"}} for n in range(AT_ONCE)]
    quiet = [(b"", b"", 0)] * AT_ONCE
    assert at_once(agent, [agent.payload("before", **call) for call in calls]) == quiet
    assert steps(path) == AT_ONCE
    assert len(rows(path, "SELECT * FROM open_calls")) == AT_ONCE
    assert at_once(agent, [agent.payload("after", **call) for call in calls]) == quiet
    assert rows(path, "SELECT * FROM open_calls") == []
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_identical_calls_at_once_are_counted_one_by_one(path):
    agent = Host("claude-code", path)
    agent.call()
    agent.call()
    command = {"tool_input": {"command": "npm test"}}
    calls = [agent.payload("before", tool_use_id=f"at once {n}", **command) for n in range(AT_ONCE)]
    said = at_once(agent, calls)
    assert sum(b'"deny"' in stdout for stdout, _, _ in said) == AT_ONCE - 2
    assert all(code == 0 for _, _, code in said)


def test_only_the_user_may_look(path):
    Host("claude-code", path).call()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_argument_and_no_result_is_kept(path):
    agent = Host("claude-code", path)
    for _ in range(3):
        agent.call(f"login {SECRET}", result=f"welcome {SECRET}")
    assert SECRET.encode() not in path.read_bytes()


def test_by_default_it_lies_in_the_users_state_directory(tmp_path):
    payload = Host("claude-code", tmp_path).payload("before")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "microloop", "hook"]
    subprocess.run(command, input=payload, env=environment, check=True)
    assert steps(tmp_path / "microloop" / "hook.sqlite3") == 1


def test_sessions_that_nobody_used_for_long_are_dropped_with_their_open_calls(path):
    Host("claude-code", path, session="old").tell("before")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE sessions SET used = used - 15 * 86400")
    Host("claude-code", path, session="new").tell("before")
    assert rows(path, "SELECT session FROM sessions") == [("new",)]
    assert rows(path, "SELECT session FROM open_calls") == [("new",)]


def write(file, block):
    file.write_text(f"version: 1\nloops: {{repeat: {{block: {block}}}}}\n", encoding="utf-8")


def test_a_policy_that_changes_is_read_again_and_the_session_begins_anew(tmp_path, path):
    policy = tmp_path / "team.yaml"
    write(policy, 30)
    agent = Host("claude-code", path, str(policy))
    assert [agent.call().denied for _ in range(3)] == [None] * 3
    write(policy, 2)
    reply = agent.call()
    assert reply.denied is None
    assert "begins anew: the session was saved under another policy" in reply.stderr
    assert "call number 2" in agent.call().denied


def test_a_policy_is_read_again_when_the_one_that_it_extends_changes(tmp_path, path):
    base, policy = tmp_path / "base.yaml", tmp_path / "team.yaml"
    write(base, 30)
    policy.write_text("version: 1\nextends: ./base.yaml\n", encoding="utf-8")
    agent = Host("claude-code", path, str(policy))
    assert [agent.call().denied for _ in range(2)] == [None] * 2
    write(base, 2)
    agent.call()
    assert "call number 2" in agent.call().denied


def test_one_run_under_two_policies_has_two_sessions(path):
    loose, strict = Host("claude-code", path, "balanced"), Host("claude-code", path, "strict_loop_detection")
    for agent in (loose, strict, loose, strict):
        agent.call()
    assert loose.call().denied is None
    assert strict.call().denied


def test_a_saved_session_that_is_damaged_begins_anew_and_says_so(path):
    agent = Host("claude-code", path)
    agent.tell("before")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE sessions SET saved = x'00ff'")
    reply = agent.tell("before", tool_use_id="another")
    assert (reply.code, reply.stdout) == (0, "")
    assert "begins anew: these bytes are no saved session" in reply.stderr
    assert steps(path) == 1
    # What was under way in the session before is not taken for a step of this one.
    assert (agent.tell("after").code, agent.tell("after", tool_use_id="another").code) == (0, 0)


def test_an_outcome_of_which_no_call_is_known_is_left_alone(path):
    agent = Host("claude-code", path)
    assert (agent.tell("after").code, agent.tell("after").stdout) == (0, "")
    assert read("claude-code", "after")["tool_use_id"] not in str(rows(path, "SELECT * FROM open_calls"))
