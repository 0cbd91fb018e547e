"""What a function says about its parameters, with annotations resolved where they can be."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Callable, Iterator
from typing import Any


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """A function's signature with its annotations resolved; None where it has none to show.

    >>> def search(query: "str") -> "list[str]": ...
    >>> signature_of(search).parameters["query"].annotation
    <class 'str'>
    """
    try:
        signature = _raw_signature(function)
    except (TypeError, ValueError):
        return None
    hints = resolved_hints(function)
    return signature.replace(
        parameters=[
            each.replace(annotation=hints.get(each.name, each.annotation)) for each in signature.parameters.values()
        ],
        return_annotation=hints.get("return", signature.return_annotation),
    )


def _raw_signature(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        # Names that exist only for type checkers stay names, instead of raising.
        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)


def resolved_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations as objects, `Annotated` and all; as they stand where a name cannot be found at run time.

    Some frameworks look names up in the module of the outermost function: for a decorated one that is the wrong one.
    """
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - an annotation may be any expression of the host's; one that fails is left as it is
        return {}
    return {name: _as_written(function, name, hint) for name, hint in hints.items()}


def _as_written(function: Callable[..., Any], name: str, hint: Any) -> Any:
    """Python 3.10 makes `x: int = None` an `Optional[int]`; what was written as an object stays that object."""
    if sys.version_info >= (3, 11):
        return hint
    written = getattr(function, "__annotations__", {}).get(name, hint)
    return written if typing.get_args(hint) == (written, type(None)) else hint


def parts(annotation: Any) -> Iterator[Any]:
    """An annotation and everything it is made of, the metadata of `Annotated` as well.

    >>> list(parts(list[int]))
    [list[int], <class 'list'>, <class 'int'>]
    """
    yield annotation
    origin = typing.get_origin(annotation)
    if isinstance(origin, type):
        yield origin
    for argument in typing.get_args(annotation):
        if argument is not annotation:
            yield from parts(argument)
