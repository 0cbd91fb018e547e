"""What the schema refuses, in words: where, what was expected, what was found, and what to write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from microloop._policy.fault import did_you_mean, fault, nearest
from microloop._policy.nodes import Node, Path, find, spell

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

    from microloop.errors import PolicyError

_TYPES = {"object": "a mapping", "array": "a list", "string": "text", "null": "null", "integer": "a whole number"}
_SHOWN = 40


def explain(error: ValidationError, root: Node) -> Iterator[PolicyError]:
    """One `PolicyError` for each thing that is wrong."""
    path: Path = tuple(error.absolute_path)
    node = find(root, path)
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    if error.validator == "additionalProperties":
        yield from _unknown_keys(node, path, schema)
    elif error.validator == "required":
        yield _missing(error, node, path)
    elif error.validator == "oneOf":
        yield _kinds(node, path)
    elif "propertyNames" in error.absolute_schema_path:
        yield _unknown_key(node, path, str(error.instance), schema.get("enum", ()))
    else:
        yield fault(_wrong_value(error, path, schema), node.mark, key=_key(path))


def _unknown_keys(node: Node, path: Path, schema: Mapping[str, Any]) -> Iterator[PolicyError]:
    known = sorted(schema.get("properties", {}))
    for key in node.keys:
        if key not in known:
            yield _unknown_key(node, path, key, known)


def _unknown_key(node: Node, path: Path, key: str, known: Sequence[str]) -> PolicyError:
    message = f'{spell((*path, key))}: unknown key "{key}"; {_hint(key, known)}'
    return fault(message, node.keys[key], key=key)


def _hint(key: str, known: Sequence[str]) -> str:
    """The nearest key here, or where in the document this key belongs."""
    home = _homes().get(key)
    if nearest(key, known) is None and home is not None:
        return f"it belongs under {home}; known here are: {', '.join(known)}"
    return did_you_mean(key, known)


@cache
def _homes() -> dict[str, str]:
    from microloop._policy.schema import published_schema

    schema = published_schema()
    homes = dict.fromkeys(schema["$defs"]["rule"]["properties"], "tools[].rules[]")
    homes |= dict.fromkeys(schema["$defs"]["conditions"]["properties"], "deny, require or ask of tools[].rules[]")
    homes |= dict.fromkeys(schema["$defs"]["tool"]["properties"], "tools[]")
    for section in ("limits", "progress", "budgets"):
        homes |= dict.fromkeys(schema["properties"][section]["properties"], section)
    homes |= dict.fromkeys(schema["$defs"]["loops"]["properties"], "loops")
    homes |= dict.fromkeys(schema["$defs"]["roles"]["properties"], "roles")
    return homes | dict.fromkeys(schema["properties"], "the top of the document")


def _missing(error: ValidationError, node: Node, path: Path) -> PolicyError:
    required: Any = error.validator_value
    absent = [key for key in required if node.child(key) is None]
    add = "version: 1" if absent[0] == "version" else absent[0]
    where = f"{spell(path)} has no key" if path else "the document has no key"
    return fault(f'{where} "{absent[0]}"; add `{add}`', node.mark, key=absent[0])


def _kinds(node: Node, path: Path) -> PolicyError:
    given = [key for key in ("deny", "require", "ask") if node.child(key) is not None]
    if not given:
        message = f"{spell(path)} says neither deny, require nor ask; add exactly one of them"
        return fault(message, node.mark, key=_key(path))
    message = (
        f"{spell(path)} has {' and '.join(given)}; a rule has exactly one of deny, require, ask: make two rules of it"
    )
    return fault(message, node.keys[given[1]], key=given[1])


def _wrong_value(error: ValidationError, path: Path, schema: Mapping[str, Any]) -> str:
    message = f"{spell(path)} must be {_expected(error, schema)}; found {show(error.instance)}"
    choices = [choice for choice in schema.get("enum", ()) if isinstance(choice, str)]
    close = nearest(error.instance, choices) if isinstance(error.instance, str) else None
    if close is not None:
        return f'{message}; the nearest known one is "{close}"'
    examples = schema.get("examples")
    return f"{message}; for example: {show(examples[0])}" if examples else message


def _expected(error: ValidationError, schema: Mapping[str, Any]) -> str:
    if "title" in schema and error.validator not in ("maximum", "maxLength"):
        return str(schema["title"])
    if "const" in schema:
        return show(schema["const"])
    if "enum" in schema:
        return " or ".join("null" if choice is None else str(choice) for choice in schema["enum"])
    if error.validator in _BOUNDS:
        return _BOUNDS[error.validator].format(error.validator_value)
    kinds = schema.get("type", "something else")
    return " or ".join(_TYPES.get(kind, "a number") for kind in ([kinds] if isinstance(kinds, str) else kinds))


_BOUNDS = {
    "maximum": "at most {}",
    "minimum": "at least {}",
    "minLength": "text of at least {} character",
    "maxLength": "text of at most {} characters",
    "minItems": "a list of at least {} element",
    "minProperties": "a mapping with at least {} key",
}


def show(value: object) -> str:
    """A value as JSON, cut to a readable length.

    >>> show("three")
    '"three"'
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _key(path: Path) -> str | None:
    names = [step for step in path if isinstance(step, str)]
    return names[-1] if names else None
