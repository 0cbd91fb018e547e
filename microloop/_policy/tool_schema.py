"""JSON Schemas that a policy gives for a tool's arguments: well formed, and no reference leaves the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from microloop._policy.explain import show

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_DATA = ("enum", "const", "default", "examples")
_DRAFTS = "draft 2020-12, 2019-09, 7, 6 and 4"
Found = tuple[tuple[Any, ...], str]


def schema_fault(schema: Any) -> Found | None:
    """Where in the schema something is wrong, and what; None if nothing is."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    named = schema.get("$schema") if isinstance(schema, dict) else None
    validator: Any = validator_for(schema, default=Draft202012Validator)
    if named is not None and _draft(named) != _draft(validator.META_SCHEMA["$schema"]):
        return ("$schema",), f"$schema {show(named)} is not known; known are {_DRAFTS}"
    try:
        validator.check_schema(schema)
    except SchemaError as error:
        return tuple(error.absolute_path), f"not a JSON Schema ({validator.__name__}): {error.message}"
    return _reference_fault(schema)


def _draft(address: object) -> str:
    """What an address of a meta-schema says beside the form in which it is written."""
    return str(address).removeprefix("https:").removeprefix("http:").rstrip("#")


def _reference_fault(schema: Any) -> Found | None:
    known = {identity.rstrip("#") for identity in _identities(schema, "")}
    for path, base, reference in _references(schema, "", ()):
        target, _, fragment = urljoin(base, reference).partition("#")
        if target and target != base and target not in known and "json-schema.org" not in target:
            message = (
                f"the reference {show(reference)} leaves the document, which is refused; copy the schema into $defs"
            )
            return path, message
        if not target and fragment.startswith("/") and not _reaches(schema, fragment):
            return path, f"the reference {show(reference)} leads nowhere in this schema; correct the pointer"
    return None


def _identities(schema: Any, base: str) -> Iterator[str]:
    if isinstance(schema, dict):
        base = _base(schema, base)
        if base:
            yield base
    for _, child in _children(schema):
        yield from _identities(child, base)


def _references(schema: Any, base: str, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str, str]]:
    if isinstance(schema, dict):
        base = _base(schema, base)
        for word in _REFERENCES:
            if isinstance(schema.get(word), str):
                yield (*path, word), base, schema[word]
    for step, child in _children(schema):
        yield from _references(child, base, (*path, step))


def _base(schema: dict[str, Any], base: str) -> str:
    identity = schema.get("$id", schema.get("id"))
    return urljoin(base, identity) if isinstance(identity, str) else base


def _children(schema: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(schema, dict):
        yield from ((key, child) for key, child in schema.items() if key not in _DATA)
    elif isinstance(schema, list):
        yield from enumerate(schema)


def _reaches(schema: Any, pointer: str) -> bool:
    """Whether a JSON pointer leads somewhere in the schema."""
    from urllib.parse import unquote

    for part in unquote(pointer).split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict) and step in schema:
            schema = schema[step]
        elif isinstance(schema, list) and step.isdigit() and int(step) < len(schema):
            schema = schema[int(step)]
        else:
            return False
    return True
