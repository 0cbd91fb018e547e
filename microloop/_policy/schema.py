"""A document against the published schema of policy files."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from microloop._policy.explain import explain
from microloop._policy.nodes import Node, plain
from microloop.errors import PolicyError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


POLICY = "policy.schema.json"
TRACES = "trace.schema.json"


@cache
def published_schema(name: str = POLICY) -> dict[str, Any]:
    """The JSON Schema of policy files (or of trace files), as published for editors."""
    schema: dict[str, Any] = json.loads((files("microloop") / name).read_text("utf-8"))
    return schema


@cache
def _validator(name: str) -> Validator:
    """JSON Schema takes 3.0 for an integer; the core does not, and 3.0 is no way to write a limit."""
    from jsonschema import Draft202012Validator, validators

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    extend: Any = validators.extend
    validator: Validator = extend(Draft202012Validator, type_checker=checker)(published_schema(name))
    return validator


def _is_integer(_checker: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def schema_faults(node: Node, name: str = POLICY) -> list[PolicyError]:
    """Everything in a document that one of our schemas refuses, in the order of the document."""
    found = [fault for error in _validator(name).iter_errors(plain(node)) for fault in explain(error, node)]
    return sorted(found, key=lambda fault: (fault.line or 0, fault.column or 0))


def validate(node: Node) -> None:
    """Raise the first fault."""
    for fault in schema_faults(node):
        raise fault
