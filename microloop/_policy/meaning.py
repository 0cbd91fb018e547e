"""What a schema of the document cannot say: order of limits, names that must exist, paths, schemas of tools."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from microloop._policy.argument_path import parse_path
from microloop._policy.durations import seconds
from microloop._policy.explain import show
from microloop._policy.fault import did_you_mean, fault
from microloop._policy.nodes import Node, find, plain
from microloop._policy.slow_split import KINDS
from microloop._policy.tool_schema import schema_fault
from microloop.errors import PolicyError

_LEVELS = ("warn", "block", "halt")


def meaning_faults(root: Node) -> Iterator[PolicyError]:
    """Everything that is well formed and yet cannot be meant. The schema must have been satisfied before."""
    loops = find_or_empty(root, "loops")
    yield from _loops(loops, "loops")
    for index, entry in enumerate(find_or_empty(root, "tools").elements()):
        where = f"tools[{index}]"
        yield from _loops(find_or_empty(entry, "loops"), f"{where}.loops", loops)
        yield from _poll(find_or_empty(entry, "poll"), where)
        yield from _rules(find_or_empty(entry, "rules"), where)
        yield from _arguments(entry, where)
    yield from _roles(find_or_empty(root, "roles"))


def find_or_empty(node: Node, key: str) -> Node:
    """A child, or an empty mapping where there is none."""
    child = node.child(key)
    return Node({}, node.mark) if child is None or child.value is None else child


def _loops(loops: Node, where: str, general: Node | None = None) -> Iterator[PolicyError]:
    """`general` are the limits that hold where those of a tool say nothing."""
    for detector, levels in loops.items():
        inherited = None if general is None else general.child(detector)
        yield from _order(levels, inherited or Node({}, levels.mark), f"{where}.{detector}")
        yield from _backoff(find_or_empty(levels, "backoff"), f"{where}.{detector}.backoff")


def _order(levels: Node, inherited: Node, where: str) -> Iterator[PolicyError]:
    if levels.value is None:
        return
    given = [(name, levels.child(name) or inherited.child(name)) for name in _LEVELS]
    present = [(name, node) for name, node in given if node is not None and node.value is not None]
    for (lower, low), (upper, high) in pairwise(present):
        if number(low) > number(high):
            own = upper if levels.child(upper) is not None else lower
            mark = levels.keys.get(own, levels.mark)
            message = (
                f"{where}: {upper} is {number(high):g} but {lower} is {number(low):g}; "
                f"write {upper} of at least {number(low):g} (warn <= block <= halt), or null to switch one off"
            )
            yield fault(message, mark, key=own)


def _backoff(backoff: Node, where: str) -> Iterator[PolicyError]:
    base, longest = backoff.child("base"), backoff.child("max")
    if base is not None and longest is not None and seconds(base.value) > seconds(longest.value):
        message = f"{where}: base {base.value} is longer than max {longest.value}; write a max of at least {base.value}"
        yield fault(message, longest.mark, key="max")


def _poll(poll: Node, where: str) -> Iterator[PolicyError]:
    deadline, interval = poll.child("deadline"), poll.child("interval")
    if deadline is not None and interval is not None and seconds(interval.value) > seconds(deadline.value):
        message = (
            f"{where}.poll: interval {interval.value} is longer than deadline {deadline.value}; "
            f"write an interval of at most {deadline.value}"
        )
        yield fault(message, interval.mark, key="interval")


def _rules(rules: Node, where: str) -> Iterator[PolicyError]:
    first: dict[Any, Node] = {}
    for index, rule in enumerate(rules.elements()):
        here = f"{where}.rules[{index}]"
        rule_id = find(rule, ("id",))
        if rule_id.value in first:
            message = (
                f"{here}: the id {show(rule_id.value)} stands twice in this entry, first on line "
                f"{first[rule_id.value].mark.line}; give each rule an id of its own"
            )
            yield fault(message, rule_id.mark, key="id")
        first[rule_id.value] = rule_id
        yield from _path(rule, here)
        yield from _range(rule, here)


def _path(rule: Node, where: str) -> Iterator[PolicyError]:
    path = rule.child("path")
    if path is None:
        yield from _needs_path(rule, where)
        return
    try:
        parse_path(str(path.value))
    except ValueError as error:
        message = f"{where}.path {show(path.value)} {error}; write keys with dots between, [0] or [*]: files[*].name"
        yield fault(message, path.mark, key="path")


def _needs_path(rule: Node, where: str) -> Iterator[PolicyError]:
    """Without a path the arguments as a whole are meant, which are neither text nor a number."""
    for kind in KINDS:
        conditions = find_or_empty(rule, kind)
        for name in ("regex", "range"):
            if conditions.child(name) is not None:
                message = f"{where}.{kind}.{name}: the rule does not say which argument; add `path:`"
                yield fault(message, conditions.keys[name], key=name)


def _range(rule: Node, where: str) -> Iterator[PolicyError]:
    for kind in KINDS:
        bounds = find_or_empty(find_or_empty(rule, kind), "range")
        low, high = bounds.child("min"), bounds.child("max")
        if low is not None and high is not None and number(low) > number(high):
            message = f"{where}.{kind}.range: min {low.value} is above max {high.value}; exchange them"
            yield fault(message, low.mark, key="min")


def _arguments(entry: Node, where: str) -> Iterator[PolicyError]:
    schema = entry.child("arguments")
    if schema is not None and schema.value is not None:
        wrong = schema_fault(plain(schema))
        if wrong is not None:
            path, reason = wrong
            yield fault(f"{where}.arguments: {reason}", find(schema, path).mark, key="arguments")


def _roles(roles: Node) -> Iterator[PolicyError]:
    default = roles.child("default")
    grants = [name for name, _ in find_or_empty(roles, "grants").items()]
    if default is not None and default.value is not None and default.value not in grants:
        hint = did_you_mean(str(default.value), grants)
        message = f"roles.default is {show(default.value)}, which roles.grants does not list; {hint}"
        yield fault(message, default.mark, key="default")


def number(node: Node) -> float:
    """The number a node holds; the schema has made sure that it is one."""
    return node.value if isinstance(node.value, (int, float)) else 0.0
