"""A JSON Schema from a function's annotations.

Only what an annotation says for certain is in it: what it leaves open, or JSON has no terms for, is `{}`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from microloop.annotations import parts

Schema: TypeAlias = "dict[str, Any]"
_KIND = inspect.Parameter
_VARIADIC = (_KIND.VAR_POSITIONAL, _KIND.VAR_KEYWORD)
_PYDANTIC = ("pydantic", "annotated_types")


def schema_of(parameters: Iterable[inspect.Parameter]) -> Schema:
    """The schema of a call's arguments, from the parameters that the model fills in.

    >>> from microloop.annotations import signature_of
    >>> def search(query: str, limit: int = 10): ...
    >>> schema_of(signature_of(search).parameters.values())["properties"]["limit"]
    {'type': 'integer'}
    """
    kept = tuple(parameters)
    named = {each.name: each for each in kept if each.kind not in _VARIADIC}
    definitions: Schema = {}
    schema: Schema = {
        "type": "object",
        "properties": {name: _property(each, definitions) for name, each in named.items()},
        "required": [name for name, each in named.items() if each.default is _KIND.empty],
    }
    if len(named) == len(kept):
        schema["additionalProperties"] = False
    return {**schema, "$defs": definitions} if definitions else schema


def _property(parameter: inspect.Parameter, definitions: Schema) -> Schema:
    # Two types of one name may meet in one signature, so each parameter has definitions of its own.
    found, inner = _of_annotation(parameter.annotation, f"{parameter.name}.")
    definitions.update(inner)
    if parameter.default is None and not may_hold_null(found, definitions):
        # `limit: int = None`: what the annotation says and the default does not is still meant.
        return {"anyOf": [found, {"type": "null"}]}
    return found


def _of_annotation(annotation: Any, prefix: str) -> tuple[Schema, Schema]:
    if annotation is _KIND.empty or annotation is Any or isinstance(annotation, str):
        return {}, {}
    make = _by_pydantic if any(map(_is_pydantic, parts(annotation))) else _by_msgspec
    try:
        schema, definitions = make(annotation, f"#/$defs/{prefix}")
    except Exception:  # noqa: BLE001 - an annotation that no schema expresses leaves its argument open; it is the host's own type
        return {}, {}
    return schema, {f"{prefix}{name}": each for name, each in definitions.items()}


def _by_msgspec(annotation: Any, place: str) -> tuple[Schema, Schema]:
    (schema,), definitions = msgspec.json.schema_components(
        [annotation], schema_hook=_custom, ref_template=f"{place}{{name}}"
    )
    return schema, definitions


def _custom(kind: Any) -> Schema:
    return {"type": "string"} if isinstance(kind, type) and issubclass(kind, os.PathLike) else {}


def _by_pydantic(annotation: Any, place: str) -> tuple[Schema, Schema]:
    from pydantic import TypeAdapter

    schema = TypeAdapter(annotation).json_schema(ref_template=f"{place}{{model}}")
    return schema, schema.pop("$defs", {})


def _is_pydantic(part: Any) -> bool:
    kind = part if isinstance(part, type) else type(part)
    return any(base.__module__.partition(".")[0] in _PYDANTIC for base in kind.__mro__)


def may_hold_null(schema: Any, definitions: Schema, seen: frozenset[str] = frozenset()) -> bool:
    """Whether `null` is right anywhere in what a schema accepts. In doubt it is.

    The encoder writes NaN as `null`. Where the schema has no room for it the core refuses it, and no one need look.

    >>> may_hold_null({"type": "string"}, {}), may_hold_null({}, {})
    (False, True)
    """
    if not isinstance(schema, dict):
        return schema is not False
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return name not in seen and may_hold_null(definitions.get(name, {}), definitions, seen | {name})
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    if inner:
        return any(may_hold_null(each, definitions, seen) for each in inner)
    if "enum" in schema or "const" in schema:
        return None in schema.get("enum", [schema.get("const")])
    return _type_may_hold_null(schema, definitions, seen)


def _type_may_hold_null(schema: Schema, definitions: Schema, seen: frozenset[str]) -> bool:
    kinds = schema.get("type", "null")
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if "null" in kinds:
        return True
    inner: list[Any] = []
    if "array" in kinds:
        inner += [schema.get("items", {}), *schema.get("prefixItems", ())]
    if "object" in kinds:
        inner += [schema.get("additionalProperties", {}), *schema.get("properties", {}).values()]
        inner += schema.get("patternProperties", {}).values()
    return any(may_hold_null(each, definitions, seen) for each in inner)
