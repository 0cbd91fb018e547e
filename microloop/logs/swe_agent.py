"""SWE-agent's trajectories (`.traj`). Its commands are one tool each: the first word says which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Call, Entry, Event, Outcome, Said, each_entry
from microloop.logs.fields import listed, mapping, result, text
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import Line


def recognises(document: Any) -> bool:
    """Steps with an action and what was observed."""
    return any(_is_step(mapping(step)) for step in listed(mapping(document).get("trajectory")))


def _is_step(step: dict[str, Any]) -> bool:
    return isinstance(step.get("action"), str) and "observation" in step and "source" not in step


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of trajectories."""
    return paired(each_entry(values, _events, "trajectory"))


def _events(entry: Entry) -> Iterator[Event]:
    action = text(entry.data.get("action"))
    command = action.split() if action else []
    if action and command:
        outcome = Outcome(result(entry.data.get("observation")))
        yield Call(entry.run_id, command[0], {"command": action.strip()}, outcome=outcome)
    else:
        said = text(entry.data.get("response")) or text(entry.data.get("thought"))
        yield from [Said(entry.run_id, "assistant", said)] if said else []
