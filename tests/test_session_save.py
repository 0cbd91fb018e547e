"""Sessions that go from one process to another as bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from microloop import Action, Guardrail, Policy, SessionError
from microloop.encoding import ERROR, outcome_json
from oracle import through_python
from oracle.expectations import read_all

every_trace = pytest.mark.parametrize("trace", [pytest.param(trace, id=name) for name, trace in read_all()])


class Wanderer:
    """A session that goes to another guard whenever it is used."""

    def __init__(self, trace):
        self._policy = Policy.load(trace["policy"])
        self._tools = trace.get("tools", {})
        self._session = self._guard().session("run-7", role=trace.get("role"))
        self._session.set_time(0)

    def _guard(self):
        guard = Guardrail(self._policy)
        # Declared in another order than those that the session has met.
        for name in reversed(["another", *self._tools]):
            guard.tool(name, schema=self._tools.get(name, {}).get("schema"))
        return guard

    def _go(self):
        self._session = self._guard().restore("run-7", self._session.save())
        return self._session

    def __getattr__(self, name):
        return getattr(self._go(), name)

    def record(self, verdict, outcome=None, *, error=None):
        """By the step's number: the verdict is one of the guard before."""
        kind, data = outcome_json(outcome) if error is None else (ERROR, error.encode())
        assert self._go().put(verdict.step, kind, data) == 0


def told(verdict):
    return None if verdict is None else verdict.as_dict()


@every_trace
def test_a_session_that_wanders_from_guard_to_guard_says_what_one_says_that_stays(trace):
    wanderer = Wanderer(trace)
    wandered = [told(through_python.play_step(wanderer, step)) for step in trace["steps"]]
    assert wandered == [told(verdict) for verdict in through_python.play(trace)]


def go_round(session, times=4):
    for _ in range(times):
        session.record(session.check("search", {"q": "cats"}), "nothing found")


def test_a_restored_session_keeps_its_role_and_its_count():
    guard = Guardrail(policy={"version": 1, "roles": {"grants": {"reader": {"allow": ["search"]}}}})
    session = guard.session("run-7", role="reader")
    go_round(session)
    restored = Guardrail(guard.policy).restore("run-8", session.save())
    assert (restored.role, restored.state()) == ("reader", session.state())
    assert restored.check("delete", {}).reason == "role.denied"


def test_an_open_session_is_not_restored_over():
    guard = Guardrail()
    session = guard.session("run-7")
    with pytest.raises(SessionError, match="run-7 is open; close it"):
        guard.restore("run-7", session.save())


def test_a_restored_session_is_found_by_its_id():
    saved = Guardrail().session("run-7").save()
    guard = Guardrail()
    assert guard.restore("run-7", saved) is guard.session("run-7")


def test_a_session_of_another_policy_is_refused_with_the_reason():
    saved = Guardrail("balanced").session("run-7").save()
    with pytest.raises(SessionError, match="saved under another policy"):
        Guardrail("strict_loop_detection").restore("run-7", saved)


@pytest.mark.parametrize("saved", [b"", b"mls\x02", b"no session at all"])
def test_bytes_that_are_no_session_are_refused_and_the_id_stays_free(saved):
    guard = Guardrail()
    with pytest.raises(SessionError, match="no saved session"):
        guard.restore("run-7", saved)
    assert guard.session("run-7").check("search", {}).allowed


def test_a_sub_agents_session_is_not_saved():
    child = Guardrail().session("run-7").child("sub")
    with pytest.raises(SessionError, match="sub has a parent and cannot be saved"):
        child.save()


def test_a_closed_session_is_not_saved():
    session = Guardrail().session("run-7")
    session.close()
    with pytest.raises(SessionError, match="run-7 is closed"):
        session.save()


def test_no_argument_and_no_result_is_in_the_bytes():
    session = Guardrail("balanced").session()
    for _ in range(6):
        verdict = session.check("login", {"password": "hunter2"})
        if verdict.allowed:
            session.record(verdict, "welcome, hunter2")
    saved = session.save()
    assert b"hunter2" not in saved
    assert b"welcome" not in saved


def test_a_process_of_its_own_goes_on_where_this_one_stopped(tmp_path: Path):
    session = Guardrail("balanced").session("run-7")
    go_round(session)
    (tmp_path / "saved").write_bytes(session.save())
    script = (
        "import sys, pathlib, microloop\n"
        "guard = microloop.Guardrail('balanced')\n"
        "session = guard.restore('run-7', pathlib.Path(sys.argv[1]).read_bytes())\n"
        "print(session.check('search', {'q': 'cats'}).action)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "saved")]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip() == Action.BLOCK
