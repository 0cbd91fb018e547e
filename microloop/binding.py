"""A function's parameter list as text, to compile other functions with the same one.

`inspect.Signature.bind` costs microseconds; a function that has the same parameters costs what any call costs, and
refuses what the callee would refuse, in the same words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from microloop.injection import is_injected

Parameters: TypeAlias = "tuple[inspect.Parameter, ...]"
_KIND = inspect.Parameter
_STARS: dict[Any, str] = {_KIND.VAR_POSITIONAL: "*", _KIND.VAR_KEYWORD: "**"}
_METHOD_FIRST = frozenset({"self", "cls", "mcs"})


def parameters_of(function: Callable[..., Any], signature: inspect.Signature) -> Parameters:
    """The parameters that the model fills in: without `self` and without what a framework injects.

    >>> def search(query: str, run_manager=None): ...
    >>> [each.name for each in parameters_of(search, inspect.signature(search))]
    ['query']
    """
    every = tuple(signature.parameters.values())
    if every and every[0].name in _METHOD_FIRST and _defined_in_class(function):
        every = every[1:]
    return tuple(each for each in every if not is_injected(each))


def _defined_in_class(function: Callable[..., Any]) -> bool:
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")


def declared(parameters: Parameters) -> str:
    """The list as it stands in a `def`. Defaults are placeholders; `take_defaults` puts the real ones in their place.

    >>> def search(query, /, *, limit=10): ...
    >>> declared(tuple(inspect.signature(search).parameters.values()))
    'query, /, *, limit=None'
    """
    return ", ".join(_declarations(parameters))


def _declarations(parameters: Parameters) -> Iterator[str]:
    previous = None
    for each in parameters:
        if previous is _KIND.POSITIONAL_ONLY and each.kind is not _KIND.POSITIONAL_ONLY:
            yield "/"
        if each.kind is _KIND.KEYWORD_ONLY and previous not in (_KIND.KEYWORD_ONLY, _KIND.VAR_POSITIONAL):
            yield "*"
        yield f"{_STARS.get(each.kind, '')}{each.name}{'' if each.default is _KIND.empty else '=None'}"
        previous = each.kind
    if previous is _KIND.POSITIONAL_ONLY:
        yield "/"


def entries(kept: Iterable[inspect.Parameter]) -> str:
    """The arguments as a dictionary display.

    >>> def search(query, **filters): ...
    >>> entries(inspect.signature(search).parameters.values())
    "{'query': query, **filters}"
    """
    kept = tuple(kept)
    # A keyword may have the name of a positional-only parameter; spread out, one would hide the other.
    spread = all(each.kind is not _KIND.POSITIONAL_ONLY for each in kept)
    return f"{{{', '.join(_entry(each, spread=spread) for each in kept)}}}"


def _entry(parameter: inspect.Parameter, *, spread: bool) -> str:
    if parameter.kind is _KIND.VAR_KEYWORD and spread:
        return f"**{parameter.name}"
    return f"{parameter.name!r}: {parameter.name}"


def forwarded(parameters: Parameters) -> str:
    """The list as it stands in a call that hands everything on.

    >>> def search(query, *, limit=10): ...
    >>> forwarded(tuple(inspect.signature(search).parameters.values()))
    'query, limit=limit'
    """
    return ", ".join(
        f"{each.name}={each.name}" if each.kind is _KIND.KEYWORD_ONLY else f"{_STARS.get(each.kind, '')}{each.name}"
        for each in parameters
    )


def take_defaults(function: Any, parameters: Parameters) -> None:
    """Gives a compiled function the defaults of its model: any objects at all."""
    optional = [each for each in parameters if each.default is not _KIND.empty]
    function.__defaults__ = tuple(each.default for each in optional if each.kind is not _KIND.KEYWORD_ONLY) or None
    function.__kwdefaults__ = {each.name: each.default for each in optional if each.kind is _KIND.KEYWORD_ONLY} or None


def compile_binder(
    function: Callable[..., Any], parameters: Parameters, kept: Iterable[inspect.Parameter]
) -> Callable[..., dict[str, Any]]:
    """A function with these parameters that returns the arguments of a call, defaults applied.

    >>> def search(query, *, limit=10): ...
    >>> parameters = tuple(inspect.signature(search).parameters.values())
    >>> compile_binder(search, parameters, parameters)("cats")
    {'query': 'cats', 'limit': 10}
    """
    scope: dict[str, Any] = {}
    source = f"def bind({declared(parameters)}):\n    return {entries(kept)}\n"
    exec(compile(source, "<microloop binder>", "exec"), scope)  # noqa: S102 - made of names that Python has checked
    binder: Callable[..., dict[str, Any]] = scope["bind"]
    take_defaults(binder, parameters)
    binder.__name__ = getattr(function, "__name__", "call")
    binder.__qualname__ = getattr(function, "__qualname__", binder.__name__)
    return binder


def bind_anything(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The binder for a callee whose parameters nobody knows, as some written in C.

    >>> bind_anything(1, key=2)
    {'args': (1,), 'key': 2}
    """
    return {"args": args, **kwargs}
