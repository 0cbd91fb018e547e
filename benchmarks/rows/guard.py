"""microloop itself, as a user has it: the decorator, the two phases by hand, a refusal."""

import itertools
from typing import Any

import workload
from microloop import Action, Guardrail, Session, Verdict
from row import Loop, Row, endless_calls, endless_outcomes
from rows.floor import Bare


class Verify(Bare):
    """The whole way of an allowed call through the decorator."""

    name = "@guard.verify"
    work = "check and record round the tool: loops, ten rules, JSON Schema"
    minus = "tool"
    target = 4000

    def __init__(self) -> None:
        """Guard the tool, in a session of its own."""
        super().__init__()
        self.guard = Guardrail(policy=workload.POLICY, on_block="raise")
        self.tool = self.guard.verify(schema=workload.SCHEMA)(self.tool)
        self.session = self.guard.session("verify")

    def run(self, operations: int) -> None:
        """Call the guarded tool."""
        with self.session:
            super().run(operations)

    def verify(self, operations: int) -> None:
        """Fail unless each call was checked, allowed and recorded, and unless schema and rules are in force."""
        all_went_through(self.session, operations)
        everything_is_in_force(self.guard)


class CheckRecord(Row):
    """The two phases by hand."""

    name = "guard.check + guard.record"
    work = "the same without the decorator; the verdict as an object"

    def __init__(self) -> None:
        """Declare the tool, and open a session."""
        self.calls, self.outcomes = endless_calls(), endless_outcomes()
        self.guard = Guardrail(policy=workload.POLICY)
        self.guard.tool(workload.TOOL, schema=workload.SCHEMA)
        self.session = self.guard.session("check and record")

    def run(self, operations: int) -> None:
        """Check and record."""
        check, record = self.guard.check, self.guard.record
        with self.session:
            for arguments, outcome in itertools.islice(zip(self.calls, self.outcomes, strict=False), operations):
                record(check(workload.TOOL, arguments), outcome)

    def verify(self, operations: int) -> None:
        """Fail unless each call was checked, allowed and recorded, and unless schema and rules are in force."""
        all_went_through(self.session, operations)
        everything_is_in_force(self.guard)


class Rejection(Row):
    """The same call once more, refused."""

    name = "refusal with its verdict"
    work = "guard.check of a repeat: blocked, with reason, limit, evidence and feedback"
    target = 4000

    def __init__(self) -> None:
        """Repeat a call until it is refused."""
        self.calls = endless_calls()
        self.guard = Guardrail(policy=workload.POLICY)
        self.guard.tool(workload.TOOL, schema=workload.SCHEMA)
        self.session = self.guard.session("refusals")
        self.same = workload.arguments(1)
        with self.session:
            self.last = repeat_until_refused(self.guard, self.same)
        self.before = self.session.state()

    def run(self, operations: int) -> None:
        """Be refused, and read the verdict as a host does."""
        check, same, verdict = self.guard.check, self.same, self.last
        with self.session:
            for _ in itertools.islice(self.calls, operations):
                verdict = check(workload.TOOL, same)
                _ = verdict.reason, verdict.limit, verdict.evidence, verdict.feedback
        self.last = verdict

    def verify(self, operations: int) -> None:
        """Fail unless each was refused for the repeat, with all that belongs to a verdict."""
        state = self.session.state()
        assert state["refusals"] - self.before["refusals"] == operations, state
        assert state["calls"] == self.before["calls"], state
        assert self.last.action is Action.BLOCK
        assert self.last.reason == "loop.repeat"
        assert self.last.evidence
        assert self.last.feedback


def repeat_until_refused(guard: Guardrail, arguments: dict[str, Any]) -> Verdict:
    """Make the same call again and again; return the verdict that ends it."""
    while (verdict := guard.check(workload.TOOL, arguments)).allowed:
        guard.record(verdict, workload.outcome(1))
    return verdict


def all_went_through(session: Session, operations: int) -> None:
    """Fail unless the session saw that many calls and refused none."""
    state = session.state()
    assert state["calls"] == operations, (state, operations)
    assert state["refusals"] == 0, state


def everything_is_in_force(guard: Guardrail) -> None:
    """Fail unless schema, rules and loop limits decide."""
    good = workload.arguments(1)
    with guard.session("proof"):
        assert guard.check(workload.TOOL, good | {"limit": "5"}).reason == "args.schema"
        assert guard.check(workload.TOOL, good | {"sql": "DROP TABLE orders"}).rule == "sql-0"
        assert guard.check(workload.TOOL, good | {"limit": 900}).rule == "small-page"
        refused = repeat_until_refused(guard, good)
        assert refused.reason == "loop.repeat", refused


ROWS: list[type[Row]] = [Loop, Bare, Verify, CheckRecord, Rejection]
