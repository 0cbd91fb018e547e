"""Arguments of the wrong type: an error that names the argument, what it must be, what was given, and what to do."""

from __future__ import annotations

import pytest

from microloop import Guardrail, Monitor, Policy, PolicyError
from microloop.logs import read

GUARD = Guardrail()
SESSION = GUARD.session("run-7")


def verdict():
    return GUARD.check("search", {"q": "x"})


A_POLICY = "policy must be a name, a path, a mapping or a Policy, found {}; for example"
A_VERDICT = "verdict must be a Verdict, found {}; pass what check returned"
WRONG = {
    "a number as policy": (lambda: Guardrail(5), A_POLICY.format("int")),
    "no policy": (lambda: Guardrail(None), A_POLICY.format("NoneType")),
    "a path in bytes": (lambda: Policy.load(b"a.yaml"), A_POLICY.format("bytes")),
    "a number as a monitor's policy": (lambda: Monitor(policy=5), A_POLICY.format("int")),
    "an ask that is no function": (
        lambda: Guardrail(ask="yes"),
        "ask must be a function that takes a verdict, found str",
    ),
    "a guard's role": (lambda: Guardrail(role=5), "role must be text, found int; pass the name of a role"),
    "how many sessions": (lambda: Guardrail(max_sessions="9"), "max_sessions must be a whole number, found str"),
    "a session's id": (lambda: GUARD.session(5), r"id must be text, found int; pass str\(id\)"),
    "an id that cannot be looked up": (lambda: GUARD.session([]), "id must be text, found list"),
    "a child's id": (lambda: SESSION.child(5), "id must be text, found int"),
    "a session's role": (lambda: GUARD.session(role=5), "role must be text, found int"),
    "a parent": (lambda: GUARD.session(parent="run-7"), "parent must be a Session, found str; pass what guard.session"),
    "the id of a saved session": (lambda: GUARD.restore(5, b""), "id must be text, found int"),
    "a saved session": (lambda: GUARD.restore("a", "saved"), "saved must be bytes, found str; pass what Session.save"),
    "tokens that are text": (
        lambda: SESSION.spend(tokens="x"),
        "tokens must be a whole number, found str; leave it out",
    ),
    "half a token": (lambda: SESSION.spend(tokens=1.5), "tokens must be a whole number, found float"),
    "no price": (lambda: SESSION.spend(usd=None), "usd must be a number of dollars, found NoneType; leave it out"),
    "a price that is text": (lambda: SESSION.spend(usd="1"), "usd must be a number of dollars, found str"),
    "what the model said": (
        lambda: SESSION.assistant_turn(None),
        "text must be text, found NoneType; pass what the model",
    ),
    "the time": (lambda: SESSION.set_time(1.5), "now_ms must be a whole number of milliseconds, found float; round it"),
    "a tool's name": (lambda: GUARD.tool(5), "name must be text, found int; pass the name that the model calls"),
    "a function's name": (lambda: GUARD.verify(name=5)(len), "name must be text, found int"),
    "a schema with an object in it": (
        lambda: GUARD.tool("a", {"x": object()}),
        "the schema of a must be JSON: .*; pass",
    ),
    "a verdict to record": (lambda: GUARD.record(None), A_VERDICT.format("NoneType")),
    "a session's verdict": (lambda: SESSION.record(5), A_VERDICT.format("int")),
    "a verdict to cancel": (lambda: GUARD.cancel(0), A_VERDICT.format("int")),
    "a verdict to ask about": (lambda: GUARD.permits("block"), A_VERDICT.format("str")),
    "an error": (lambda: GUARD.record(verdict(), error=5), "error must be an exception or text, found int"),
    "measures": (
        lambda: GUARD.record(verdict(), measures=5),
        "measures must be a mapping, found int; its keys are state",
    ),
    "a log": (lambda: read(5), 'source must be a path, or lines as bytes, found int; open a file with "rb"'),
    "lines of text": (lambda: read(["{}"]), 'each line must be bytes, found str; open the file with "rb"'),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_of_the_wrong_type_is_a_type_error_that_says_what_to_pass(what):
    call, says = WRONG[what]
    with pytest.raises(TypeError, match=says):
        call()


def test_amounts_that_are_out_of_range_say_so():
    with pytest.raises(ValueError, match=r"max_sessions is 0: .*; pass 1 or more"):
        Guardrail(max_sessions=0)
    for now in (-1, 1 << 64):
        with pytest.raises(ValueError, match=f"now_ms is {now}: the clock goes from 0"):
            SESSION.set_time(now)


def test_sections_of_a_policy_are_told_as_those_of_a_file():
    with pytest.raises(PolicyError, match="tools must be a list or null; found 5"):
        Policy(tools=5)


def test_a_schema_may_be_true():
    assert GUARD.verify(schema=True)(lambda q: q)("cats") == "cats"


def test_wrong_types_in_a_call_are_judged_and_not_raised():
    assert not GUARD.check(5, {}).allowed
    assert not GUARD.check("search", {}, call_id=5).allowed
