"""Calls whose arguments are no JSON. CrewAI answers them before any hook; they are counted when it asks again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from crewai.utilities.agent_utils import parse_tool_call_args

from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.unrun import judge_unrun

if TYPE_CHECKING:
    from microloop.adapters._gate.gate import Gate
    from microloop.session import Session


def judge_unread(gate: Gate, session: Session, messages: Sequence[Mapping[str, Any]]) -> None:
    """Counts those of the turn that the model's latest messages answer."""
    answers = list(takewhile(lambda message: message["role"] == "tool", reversed(messages)))
    asked = messages[-len(answers) - 1] if 0 < len(answers) < len(messages) else {}
    said = {answer["tool_call_id"]: str(answer["content"]) for answer in answers}
    for call in asked.get("tool_calls") or []:
        name, arguments, call_id = call["function"]["name"], call["function"]["arguments"], call["id"]
        if parse_tool_call_args(arguments, name, call_id)[1] is not None:
            batch = notes_of(session).batch
            found = Call(session, name, arguments, call_id, call_id if batch else None, batch)
            judge_unrun(gate, found, said.get(call_id, ""))
