"""The policies that ship with the package: that all of them load."""

from __future__ import annotations

from collections.abc import Iterator

from microloop._policy.lint import lint
from microloop._policy.names import policy_names
from microloop.doctor.finding import Finding, ok, wrong
from microloop.doctor.library import REINSTALL
from microloop.errors import PolicyError
from microloop.guardrail import Guardrail


def examine() -> Iterator[Finding]:
    """One finding if all is well; else one for each policy that is not."""
    names = policy_names()
    faults = [(name, fault) for name in names if (fault := _fault(name))]
    for name, fault in faults:
        yield wrong("policies", name, fault, REINSTALL)
    if not names:
        yield wrong("policies", "named", "none was found", REINSTALL)
    elif not faults:
        yield ok("policies", "named", f"{len(names)} load and have no fault: {', '.join(names)}")


def _fault(name: str) -> str:
    found = next((each.message for each in lint(name) if each.severity != "hint"), "")
    if found:
        return found
    try:
        Guardrail(name)
    except PolicyError as error:
        return str(error)
    return ""
