"""Recorded runs in microloop's own form: one step a line, as JSON.

A line has `tool`, `arguments`, and `result` or `error`; or `user`, or `assistant`. `run_id` tells runs apart, `step`
numbers the steps, `at` is the time in milliseconds. `error` is a text, or false or null for none. A `result` of null
means that the log does not say what came back. `tokens` and `usd` are what the model spent on the step.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from microloop.replay import UNKNOWN
from microloop.spending import nano_usd, whole_tokens

_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
_MOST_MILLISECONDS = 1 << 53
_KEPT = ("call_id", "batch", "at", "user", "assistant")
_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "tool": ((str,), "text"),
    "arguments": ((dict, str, type(None)), "a mapping, or text as the model wrote it"),
    "error": ((str, bool, type(None)), "text, false or null"),
    "at": ((int, float), "milliseconds"),
    "run_id": ((str, int, type(None)), "text"),
    "user": ((str,), "text"),
    "assistant": ((str,), "text"),
    "call_id": ((str, type(None)), "text"),
    "batch": ((str, type(None)), "text"),
    "tokens": ((int, type(None)), "a whole number"),
    "usd": ((int, float, type(None)), "dollars"),
}
_SPENT: Mapping[str, Callable[[Any], int]] = {"tokens": whole_tokens, "usd": nano_usd}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a recording: which run, which step, and what `Replay.step` takes."""

    run_id: str
    number: int
    tool: str
    played: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that is no step, and why."""

    line: int
    reason: str


Line: TypeAlias = "Step | BrokenLine"


def decode(line: bytes) -> Any:
    """The JSON value of a line; a ValueError says what is wrong with it."""
    try:
        return json.loads(mended(line))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ValueError(f"not JSON: {error.msg} at {place}") from None
    except ValueError:
        raise ValueError(f"a number has more than {sys.get_int_max_str_digits()} digits") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def mended(line: bytes) -> bytes:
    r"""A line whose escapes are whole characters: halves of one, which JavaScript leaves where it cuts texts, are none.

    >>> mended(rb'"\ud83d\ude00 \ud83d"')
    b'"\\ud83d\\ude00 \\ufffd"'
    """
    if rb"\ud" not in line and rb"\uD" not in line:
        return line
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found["half"] else found[0], line)


def step_of(document: Any, counts: dict[str, int]) -> Step:
    """The step that a line's value is; `counts` has the next number of each run. A ValueError says why it is none.

    >>> step_of({"tool": "search", "arguments": {"q": "x"}, "result": "no"}, {}).tool
    'search'
    """
    if not isinstance(document, dict):
        raise ValueError(f"expected an object, found {type(document).__name__}")  # noqa: TRY004  # of the line, not the call
    for key, (types, wanted) in _TYPES.items():
        if key in document and not isinstance(document[key], types):
            raise ValueError(f'"{key}" must be {wanted}, found {type(document[key]).__name__}')
    for key, checked in _SPENT.items():
        checked(document.get(key) or 0)
    kinds = [key for key in ("tool", "user", "assistant") if key in document]
    if len(kinds) != 1:
        raise ValueError(f"a step has exactly one of tool, user, assistant; found {', '.join(kinds) or 'none'}")
    run_id = str(document.get("run_id") or "")
    number = document.get("step", counts.get(run_id, 0))
    counts[run_id] = (number if isinstance(number, int) else counts.get(run_id, 0)) + 1
    return Step(run_id, counts[run_id] - 1, document.get("tool", kinds[0]), _played(document))


def _played(document: Mapping[str, Any]) -> Mapping[str, Any]:
    played = {key: document[key] for key in _KEPT if document.get(key) is not None}
    if "at" in played:
        played["at"] = _milliseconds(played["at"])
    spent = {key: document[key] for key in _SPENT if document.get(key) is not None}
    if spent:
        played["spend"] = spent
    if "tool" not in document:
        return played
    outcome = {"error": _error(document)} if document.get("error") else {"result": _result(document)}
    return {**played, "tool": document["tool"], "args": document.get("arguments") or {}, **outcome}


def _milliseconds(at: float) -> int:
    """As the core takes them; the comparison also fails for what is no number."""
    if not -_MOST_MILLISECONDS <= at <= _MOST_MILLISECONDS:
        raise ValueError(f'"at" must be milliseconds, at most {_MOST_MILLISECONDS}')
    return int(at)


def _error(document: Mapping[str, Any]) -> str:
    """Logs that only say that there was an error have its text in the result."""
    return document["error"] if isinstance(document["error"], str) else str(document.get("result") or "error")


def _result(document: Mapping[str, Any]) -> Any:
    result = document.get("result")
    return UNKNOWN if result is None else result
