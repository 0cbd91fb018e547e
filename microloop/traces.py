"""Traces: short runs that prove what a policy does. Each policy ships with its own; `policy test` plays them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from microloop._policy.explain import show
from microloop._policy.fault import fault
from microloop._policy.names import looks_like_path, read_file, read_named_traces
from microloop._policy.nodes import Node, plain
from microloop._policy.schema import TRACES, schema_faults
from microloop._policy.yaml_reader import read_yaml
from microloop.policy import Policy, Source
from microloop.verdict import Action, Verdict

if TYPE_CHECKING:
    from microloop.decision import Status

_KINDS = ("tool", "user", "assistant", "spend")
STOPS = frozenset({Action.BLOCK, Action.HALT})


@dataclass(frozen=True, slots=True)
class Trace:
    """One run and what must be said about it."""

    name: str
    steps: tuple[Mapping[str, Any], ...]
    policy: str | Mapping[str, Any] | None = None
    source: str = ""
    tools: Mapping[str, Mapping[str, Any]] | None = None
    role: str | None = None
    noticed_by: int | None = None
    stopped_by: int | None = None
    never: str | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A trace, the verdict on each of its steps (None for a user's message), and what differs from expectation."""

    trace: Trace
    verdicts: tuple[Verdict | None, ...]
    statuses: tuple[Status | None, ...]
    """Where the run stood after each step, as far as the trace asks."""
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.problems


def traces_path(policy_path: Path) -> Path:
    """Where the traces of a policy file stand.

    >>> traces_path(Path("policies/team.yaml")).name
    'team.traces.yaml'
    """
    return policy_path.with_name(f"{policy_path.stem}.traces.yaml")


def read_traces(reference: str | Path) -> list[Trace]:
    """The traces in a file, or those of a named policy.

    >>> len(read_traces("balanced")) >= 5
    True
    """
    named = isinstance(reference, str) and not looks_like_path(reference)
    text, shown = read_named_traces(str(reference)) if named else read_file(Path(reference))
    root = read_yaml(text, shown)
    for wrong in schema_faults(root, TRACES):
        raise wrong
    for trace in root.elements():
        _check_steps(trace)
    return [_trace(document) for document in plain(root)]


def _check_steps(trace: Node) -> None:
    for step in cast("Node", trace.child("steps")).elements():
        kinds = [kind for kind in _KINDS if step.child(kind) is not None]
        if len(kinds) != 1:
            raise fault(f"a step has exactly one of tool, user, assistant, spend; found {show(kinds)}", step.mark)
        if step.child("result") is not None and step.child("error") is not None:
            raise fault("a step has a result or an error, not both", step.keys["error"], key="error")


def _trace(document: Mapping[str, Any]) -> Trace:
    steps = tuple(step for step in document["steps"] for _ in range(step.get("times", 1)))
    return Trace(**{**document, "steps": steps})


def play(trace: Trace, policy: Source) -> Played:
    """Run one trace through a guard with this policy; the policy that the trace itself names comes first.

    >>> play(read_traces("observe")[0], "observe").passed
    True
    """
    said = tuple(_said(trace, Policy.load(trace.policy or policy)))
    verdicts, statuses = tuple(verdict for verdict, _ in said), tuple(status for _, status in said)
    return Played(trace, verdicts, statuses, tuple(_problems(trace, verdicts, statuses)))


def _said(trace: Trace, policy: Policy) -> Iterator[tuple[Verdict | None, Status | None]]:
    from microloop.guardrail import Guardrail
    from microloop.replay import Replay

    guard = Guardrail(policy)
    for name, tool in (trace.tools or {}).items():
        guard.tool(name, tool.get("schema"))
    with Replay(guard, role=trace.role) as replay:
        for step in trace.steps:
            yield replay.step(step), replay.status if "status" in step else None


def _problems(trace: Trace, verdicts: Sequence[Verdict | None], statuses: Sequence[Status | None]) -> Iterator[str]:
    for number, (step, status) in enumerate(zip(trace.steps, statuses, strict=True), 1):
        if step.get("status", status) != status:
            yield f"step {number}: expected the run to be {step['status']}, seen {status}"
    judged = [(step, verdict) for step, verdict in zip(trace.steps, verdicts, strict=True) if verdict is not None]
    for number, (step, verdict) in enumerate(judged, 1):
        yield from _step_problems(number, step, verdict)
    yield from _whole_problems(trace, [verdict for step, verdict in judged if "tool" in step])


def _step_problems(number: int, step: Mapping[str, Any], verdict: Verdict) -> Iterator[str]:
    expected = step.get("expect")
    actions = [expected] if isinstance(expected, str) else expected
    if actions is not None and verdict.action not in actions:
        yield f"step {number}: expected {' or '.join(actions)}, seen {told(verdict)}"
    elif step.get("reason") not in (None, verdict.reason):
        yield f"step {number}: expected the reason {step['reason']}, seen {told(verdict)}"


def _whole_problems(trace: Trace, calls: Sequence[Verdict]) -> Iterator[str]:
    noticed = _first(calls, frozenset(Action) - {Action.ALLOW})
    stopped = _first(calls, STOPS)
    for limit, seen, word in ((trace.noticed_by, noticed, "noticed"), (trace.stopped_by, stopped, "stopped")):
        if limit is not None and (seen is None or seen > limit):
            yield f"expected to be {word} by call {limit}, seen {'never' if seen is None else f'at call {seen}'}"
    forbidden = {"stop": stopped, "notice": noticed}.get(trace.never or "")
    if forbidden is not None:
        yield f"expected never to {trace.never}, seen {told(calls[forbidden - 1])} at call {forbidden}"


def _first(calls: Sequence[Verdict], actions: frozenset[Action]) -> int | None:
    return next((number for number, verdict in enumerate(calls, 1) if verdict.action in actions), None)


def told(verdict: Verdict) -> str:
    """A verdict in a few words.

    >>> told(Verdict(action=Action.BLOCK, reason="loop.repeat", seen=5, limit=5))
    'block (loop.repeat, 5 of 5)'
    """
    if not verdict.reason or verdict.reason == "none":
        return str(verdict.action)
    counted = f", {verdict.seen} of {verdict.limit}" if verdict.limit is not None else ""
    return f"{verdict.action} ({verdict.reason}{counted})"
