"""Whether it does what it is for: a loop is blocked, a schema refuses, a monitor sees a stall."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from microloop.decision import Status
from microloop.doctor.finding import Finding, ok, wrong
from microloop.doctor.library import REINSTALL
from microloop.guardrail import Guardrail
from microloop.monitor import Monitor
from microloop.verdict import Action

_SCHEMA = {"type": "object", "required": ["q"]}


def _loop() -> str:
    with Guardrail("strict_loop_detection").session() as session:
        for _ in range(2):
            session.record(session.check("search", {"q": "cats"}), "nothing found")
        return str(session.check("search", {"q": "cats"}).action)


def _schema() -> str:
    guard = Guardrail()
    guard.tool("search", _SCHEMA)
    return guard.check("search", {}).reason


def _stall() -> str:
    monitor = Monitor()
    return str([monitor.observe("ls", "one file").status for _ in range(5)][-1])


_TESTS: dict[str, tuple[Callable[[], str], str]] = {
    "a loop is blocked": (_loop, str(Action.BLOCK)),
    "a schema refuses": (_schema, "args.schema"),
    "a monitor sees a stall": (_stall, str(Status.STALLED)),
}


def examine() -> Iterator[Finding]:
    """Each in a few calls."""
    for name, (run, expected) in _TESTS.items():
        seen = run()
        if seen == expected:
            yield ok("self-test", name, seen)
        else:
            yield wrong("self-test", name, f"expected {expected}, seen {seen}", REINSTALL)
