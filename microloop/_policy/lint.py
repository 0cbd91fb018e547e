"""What is wrong with a policy file, all of it, and what is allowed but hardly meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from microloop._policy.extends import Origin, read_document, read_reference, resolve
from microloop._policy.fault import did_you_mean
from microloop._policy.loading import load_tree
from microloop._policy.meaning import find_or_empty, meaning_faults
from microloop._policy.merge import without_nulls
from microloop._policy.names import looks_like_path
from microloop._policy.nodes import Mark, Node
from microloop._policy.schema import schema_faults
from microloop._policy.slow_rule import TIME_LIMIT, SlowRule
from microloop.errors import PolicyError

_DETECTORS = ("repeat", "write", "cycle", "error", "near", "stall", "text", "recur", "retry", "refused")
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_FILLED_IN = ("tool", "seen", "limit")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that lint says. `message` begins with the position."""

    severity: Literal["error", "warning", "hint"]
    message: str
    line: int | None = None
    column: int | None = None


def lint(reference: str) -> list[Finding]:
    """Everything about the policy of a name or in a file; errors come alone."""
    try:
        node, origin = (
            read_reference(reference, Path(), Mark()) if _is_name(reference) else read_document(Path(reference))
        )
        errors = schema_faults(node)
        if errors:
            return [_error(fault) for fault in errors]
        return list(_deeper(node, origin))
    except PolicyError as fault:
        return [_error(fault)]


def _is_name(reference: str) -> bool:
    return not looks_like_path(reference) and not Path(reference).is_file()


def _deeper(node: Node, origin: Origin) -> Iterator[Finding]:
    whole = without_nulls(resolve(node, origin))
    errors = [*schema_faults(whole), *meaning_faults(whole)]
    if errors:
        yield from map(_error, errors)
        return
    loaded = load_tree(whole, "linted")
    _compile(loaded.native_json)
    yield from _lonely(node)
    yield from _open_doors(node)
    yield from _entries(node)
    yield from _messages(node)
    yield from map(_slow, loaded.slow_rules)


def _compile(document: bytes) -> None:
    """The core has the last word; what it refuses has no position."""
    from microloop import _native

    _native.lib.microloop_policy_free(_native.new_policy(document))


def _error(fault: PolicyError) -> Finding:
    return Finding("error", str(fault), fault.line, fault.column)


def _warning(message: str, mark: Mark) -> Finding:
    return Finding("warning", f"{mark}: {message}", mark.line, mark.column)


def _lonely(node: Node) -> Iterator[Finding]:
    extends, loops = node.child("extends"), find_or_empty(node, "loops")
    if (extends is None or extends.value is None) and not any(loops.child(name) for name in _DETECTORS):
        message = (
            "stands alone and has no loop limits, so no loop is ever noticed; add `extends: balanced`, or `loops:`"
        )
        yield _warning(message, node.mark)


def _open_doors(node: Node) -> Iterator[Finding]:
    on_error, mode = node.child("on_error"), node.child("mode")
    observes = mode is not None and mode.value == "observe"
    if on_error is not None and on_error.value == "allow" and not observes:
        yield _warning(
            "on_error: allow lets calls run unseen when the guard itself fails; block is safer", on_error.mark
        )
    roles = find_or_empty(node, "roles")
    otherwise = roles.child("otherwise")
    denied = any(grant.child("deny") for _, grant in find_or_empty(roles, "grants").items())
    if otherwise is not None and otherwise.value == "allow" and not denied:
        message = (
            "roles.otherwise: allow and no grant denies anything, so every role may call every tool; add deny lists"
        )
        yield _warning(message, otherwise.mark)


def _entries(node: Node) -> Iterator[Finding]:
    first: dict[object, Mark] = {}
    for index, entry in enumerate(find_or_empty(node, "tools").elements()):
        if len(entry.keys) == 1:
            yield _warning(
                f"tools[{index}] says nothing about the tools it matches; add something or remove it", entry.mark
            )
        for rule in find_or_empty(entry, "rules").elements():
            rule_id = rule.child("id")
            if rule_id is not None and rule_id.value in first:
                yield _repeated_id(str(rule_id.value), rule_id.mark, first[rule_id.value])
            elif rule_id is not None:
                first[rule_id.value] = rule_id.mark


def _repeated_id(rule_id: str, mark: Mark, first: Mark) -> Finding:
    message = (
        f'the rule id "{rule_id}" is also used on line {first.line}; for tools that both entries match this rule takes '
        "its place, and verdicts cannot tell the two apart: rename one unless that is meant"
    )
    return _warning(message, mark)


def _messages(node: Node) -> Iterator[Finding]:
    entries = find_or_empty(node, "tools").elements()
    for messages in (find_or_empty(node, "messages"), *(find_or_empty(entry, "messages") for entry in entries)):
        for reason, text in messages.items():
            for name in _PLACEHOLDER.findall(str(text.value)):
                if name not in _FILLED_IN:
                    message = f"messages.{reason}: {{{name}}} is not filled in; {did_you_mean(name, _FILLED_IN)}"
                    yield _warning(message, text.mark)


def _slow(rule: SlowRule) -> Finding:
    message = (
        f"rule {rule.id}: the pattern looks around or back, so it runs in Python with a limit of {TIME_LIMIT} s; "
        "the C ABI alone does not have it"
    )
    return Finding("hint", message)
