"""The wrapper of a guarded function, compiled for the function's own parameter list.

Check, run, record: the text below is the hot path, and all of it. A wrapper that takes `*args, **kwargs` and calls
helpers would do the same for half a microsecond more a call, as much as a crossing into the native library. Everything
but a plain allow and a text as result goes to `Site`.

In the text, names of the wrapper's own begin with `$`, so that no parameter can be one of them.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from microloop._native import lib
from microloop.binding import Parameters, declared, entries, forwarded, take_defaults
from microloop.coverage import passage
from microloop.driven import drive, drive_async
from microloop.judgement import NO_CONTEXT

if TYPE_CHECKING:
    from microloop.site import Site

_PREFIX = "_microloop_"
_HEAD = """
{define} $wrapper({parameters}):
    if $outer() is not None and $passes():
        return {wait} $function({call})
    $arguments = {arguments}
    try:
        $session = $current() or $here()
        $data = $encode($arguments)
        $packed = $check($session.handle, $index, $data, $len($data), $no_context)
        $verdict = $judged($session, $packed, $data) if {noted} else None
    except $Exception as $error:
        $session, $packed, $verdict = $once_more($arguments, $error)
    if $verdict is not None:
        if not {wait} $permits($verdict):
            return $refuse($verdict, $frame())
        if $session is None:
            return {wait} $function({call})
"""
_RESULT = """
    try:
        $result = {wait} $function({call})
    except $BaseException as $error:
        $failed($session, $packed >> 8, $error)
        raise
    if $result.__class__ is $str:
        $data = $result.encode("utf-8", "replace")
        $status = $record($session.handle, $packed >> 8, 0, $data, $len($data))
        if $status < 0:
            $unrecorded($session, $status)
    else:
        $result = $leave($session, $packed >> 8, $result)
    return $result if $verdict is None else $advised($verdict, $result, $frame())
"""
_ITEMS = """
    return $drive($site, $session, $packed >> 8, $function({call}), $verdict)
"""


class _Kind(NamedTuple):
    """How the wrapper of one kind of function differs from the others."""

    define: str
    wait: str
    tail: str
    permits: str
    drive: Callable[..., Any] | None = None


_PLAIN = _Kind("def", "", _RESULT, "permits")
_COROUTINE = _Kind("async def", "await", _RESULT, "permits_async")
# These two are checked when they are called, and not when the first item is taken.
_GENERATOR = _Kind("def", "", _ITEMS, "permits", drive)
_ASYNC_GENERATOR = _Kind("def", "", _ITEMS, "permits_later", drive_async)


def wrapper_of(site: Site, parameters: Parameters, kept: Parameters) -> Callable[..., Any]:
    """The wrapper: a coroutine function for a coroutine function, else a function.

    It has the function's own parameters where that function takes them as they are. One that is itself a wrapper, or no
    function at all, may care how its arguments were handed over, and gets them as they came.
    """
    kind = _kind_of(site.function)
    own = _is_plain_function(site.function) and not _clash(parameters)
    everything = "*$args, **$kwargs"
    source = (_HEAD + kind.tail).format(
        define=kind.define,
        wait=kind.wait,
        parameters=declared(parameters) if own else everything,
        call=forwarded(parameters) if own else everything,
        arguments=entries(kept) if own else f"$bind({everything})",
        noted="True" if site.tool.slow_rules else "$packed & 255",
    )
    wrapper: Callable[..., Any] = _made(
        source, {**_names(site), "permits": getattr(site, kind.permits), "drive": kind.drive}
    )
    if own:
        take_defaults(wrapper, parameters)
    return wrapper


def _kind_of(function: Callable[..., Any]) -> _Kind:
    # An object that is called is of the kind that its `__call__` is.
    called = (
        function if inspect.isroutine(function) or isinstance(function, functools.partial) else type(function).__call__
    )
    if inspect.iscoroutinefunction(called):
        return _COROUTINE
    if inspect.isasyncgenfunction(called):
        return _ASYNC_GENERATOR
    return _GENERATOR if inspect.isgeneratorfunction(called) else _PLAIN


def _is_plain_function(function: Callable[..., Any]) -> bool:
    return isinstance(function, types.FunctionType) and not hasattr(function, "__wrapped__")


def _clash(parameters: Parameters) -> bool:
    return any(each.name.startswith(_PREFIX) for each in parameters)


def _names(site: Site) -> dict[str, Any]:
    """What the text refers to. All of it is handed in, for the module of the function may call `len` what it likes."""
    return {
        "BaseException": BaseException,
        "Exception": Exception,
        "advised": site.advised,
        "bind": site.bind,
        "frame": inspect.currentframe,
        "check": lib.microloop_check,
        "current": site.guard.current.get,
        "encode": site.encode,
        "failed": site.failed,
        "function": site.function,
        "here": site.guard.here,
        "index": site.tool.index,
        "judged": site.judged,
        "leave": site.leave,
        "len": len,
        "no_context": NO_CONTEXT,
        "once_more": site.once_more,
        "outer": passage.get,
        "passes": site.passes,
        "record": lib.microloop_record,
        "refuse": site.refuse,
        "site": site,
        "str": str,
        "unrecorded": site.unrecorded,
    }


def _made(source: str, names: dict[str, Any]) -> Any:
    body = source.replace("\n", "\n    ")
    text = f"def $make({', '.join(f'${name}' for name in names)}):\n{body}\n    return $wrapper\n".replace("$", _PREFIX)
    function = names["function"]
    code = compile(
        text, f"<microloop guard of {getattr(function, '__qualname__', function)}>", "exec", dont_inherit=True
    )
    scope: dict[str, Any] = {}
    # In the globals of the function, where some frameworks look its annotations up.
    exec(code, getattr(function, "__globals__", {}), scope)  # noqa: S102 - the text above and names that Python has checked
    return scope[f"{_PREFIX}make"](*names.values())
