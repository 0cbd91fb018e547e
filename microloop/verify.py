"""`@guard.verify`: finds out what it was put on, and gives back something of the same kind that asks first."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from microloop.annotations import resolved_hints, signature_of
from microloop.binding import bind_anything, compile_binder, parameters_of
from microloop.compiled import wrapper_of
from microloop.encoding import arguments_json, encode
from microloop.errors import PolicyError
from microloop.schema_of import may_hold_null, schema_of
from microloop.site import Site
from microloop.wrap import adapter_of, framework_of, wrapped

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.tools import Tool

GivenSchema: TypeAlias = "Mapping[str, Any] | Literal[False] | None"
MARK = "__microloop__"
"""The attribute of a guarded function with the guards that it has; `functools.wraps` hands it on to outer wrappers."""


def guarded(guard: Guardrail, target: Any, name: str | None = None, schema: GivenSchema = None) -> Any:
    """`target`, asking `guard` before each call."""
    if isinstance(target, (classmethod, staticmethod)):
        return type(target)(guarded(guard, target.__func__, name, schema))
    if guard in getattr(target, MARK, ()):
        return target  # guarded before: a call counts once
    if not inspect.isroutine(target) and adapter_of(target) is not None:
        return wrapped(guard, target)
    _refuse_what_cannot_be_guarded(target)
    return _guarded_callable(guard, target, name or _name_of(target), schema)


def _refuse_what_cannot_be_guarded(target: Any) -> None:
    framework = framework_of(target)
    shown = getattr(target, "__name__", None) or type(target).__name__
    if framework is not None and not inspect.isroutine(target):
        raise TypeError(
            f"{shown} is a tool of {framework} already: put @guard.verify below the decorator that makes it one"
        )
    if isinstance(target, type):
        raise TypeError(f"{shown} is a class: put @guard.verify on the methods that are tools")
    if isinstance(target, property):
        raise TypeError("a property cannot be guarded: put @guard.verify on its getter, below @property")
    if not callable(target):
        raise TypeError(
            f"{shown} cannot be called, so it cannot be guarded: put @guard.verify below the decorator that made it"
        )


def _name_of(target: Any) -> str:
    while isinstance(target, functools.partial):
        target = target.func
    return str(getattr(target, "__name__", None) or type(target).__name__)


def _guarded_callable(
    guard: Guardrail, target: Callable[..., Any], name: str, schema: GivenSchema
) -> Callable[..., Any]:
    signature = signature_of(target)
    parameters = () if signature is None else tuple(signature.parameters.values())
    kept = () if signature is None else parameters_of(target, signature)
    bind = bind_anything if signature is None else compile_binder(target, parameters, kept)
    derived = schema_of(kept) if schema is None and signature is not None else schema or None
    site = Site(guard, _declared(guard, name, derived), target, bind, _encoder_for(derived))
    guard.covers(name, "verify", f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', name)}")
    return _dressed(wrapper_of(site, parameters, kept), target, signature, guard)


def _declared(guard: Guardrail, name: str, schema: Mapping[str, Any] | None) -> Tool:
    try:
        return guard.tool(name, schema)
    except PolicyError as error:
        raise PolicyError(
            f"the JSON Schema of {name} cannot be used: {error}; "
            "give another one with guard.verify(schema=...), or schema=False for none"
        ) from error


def _encoder_for(schema: Mapping[str, Any] | None) -> Callable[[dict[str, Any]], bytes]:
    """Where the schema has no room for `null`, the core refuses NaN in that disguise, and nobody need look for it."""
    if not isinstance(schema, Mapping) or may_hold_null(schema, schema.get("$defs", {})):
        return arguments_json
    return encode


def _dressed(
    wrapper: Callable[..., Any], target: Callable[..., Any], signature: inspect.Signature | None, guard: Guardrail
) -> Callable[..., Any]:
    """Everything about the wrapper that frameworks look at is the target's: name, text, annotations, signature."""
    updated = functools.WRAPPER_UPDATES if inspect.isfunction(target) else ()
    functools.update_wrapper(wrapper, target, updated=updated)
    wrapper.__name__ = _name_of(target)
    hints = resolved_hints(target)
    if hints:
        wrapper.__annotations__ = hints
    if signature is not None:
        wrapper.__signature__ = signature  # type: ignore[attr-defined]  # what inspect.signature reads first
    setattr(wrapper, MARK, (*getattr(target, MARK, ()), guard))
    return wrapper
