"""Verdicts and outcomes as LangChain messages, and back.

Only `langchain_core` is imported here. A LangGraph `Command` is known by what it has: it is neither text nor message.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from microloop.adapters._gate.gate import log_advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from microloop.verdict import Verdict

_REQUESTS = ("\n Please fix your mistakes.", "\n Please fix the error and try again.")
_SHOWN = re.compile(r"\AError: (?P<class>\w+)\((?P<quote>['\"])(?P<message>.*)(?P=quote),?\)\Z", re.DOTALL)
MARK = "microloop"
"""Under this key a message that the guard wrote or changed carries the verdict, in `additional_kwargs`."""


def refusal(verdict: Verdict, *, call_id: str | None, name: str, text: str | None = None) -> ToolMessage:
    """The answer to a call that does not run."""
    return ToolMessage(
        text or verdict.feedback,
        tool_call_id=call_id or "",
        name=name,
        status="error",
        additional_kwargs={MARK: verdict.as_dict()},
    )


def advised(result: Any, verdict: Verdict, call_id: str | None) -> Any:
    """The result with the advice at its head, where there is a place for text."""
    if isinstance(result, str):
        return f"{verdict.feedback}\n\n{result}"
    if isinstance(result, ToolMessage):
        return _advised_message(result, verdict)
    if isinstance(result, list) and any(_answers(each, call_id) for each in result):
        return [_advised_message(each, verdict) if _answers(each, call_id) else each for each in result]
    log_advice(verdict, result)
    return result


def _advised_message(message: ToolMessage, verdict: Verdict) -> ToolMessage:
    content = message.content
    head: Any = f"{verdict.feedback}\n\n{content}" if isinstance(content, str) else [_block(verdict.feedback), *content]
    marks = {**message.additional_kwargs, MARK: verdict.as_dict()}
    return message.model_copy(update={"content": head, "additional_kwargs": marks})


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def answer_in(result: Any, call_id: str | None) -> ToolMessage | None:
    """The message in a tool's result that answers the call: it may be inside a list or a `Command`."""
    if isinstance(result, ToolMessage):
        return result
    if isinstance(result, list):
        found = (
            answer_in(each, call_id) for each in result if not isinstance(each, ToolMessage) or _answers(each, call_id)
        )
        return next((each for each in found if each is not None), None)
    update = result if isinstance(result, dict) else getattr(result, "update", None)
    values = update.values() if isinstance(update, dict) else ()
    messages = (each for value in values for each in (value if isinstance(value, list) else [value]))
    return next((each for each in messages if _answers(each, call_id)), None)


def _answers(message: Any, call_id: str | None) -> bool:
    return isinstance(message, ToolMessage) and message.tool_call_id == call_id


def outcome_of(result: Any, call_id: str | None) -> tuple[Any, str | None]:
    """What came back, as the guard records it: a result, or the text of an error."""
    message = answer_in(result, call_id)
    if message is None:
        return _without_message(result), None
    if message.status == "error":
        return None, _as_raised(str(message.text))
    return message.content, None


def _as_raised(text: str) -> str:
    r"""An error without the words that LangGraph puts around every error: they would make them all alike.

    >>> _as_raised("Error: OSError('no such file')\n Please fix your mistakes.")
    'OSError: no such file'
    """
    for request in _REQUESTS:
        text = text.removesuffix(request)
    return _SHOWN.sub(r"\g<class>: \g<message>", text)


def _without_message(result: Any) -> Any:
    if not hasattr(result, "goto"):
        return result
    # A `Command` changes the graph's state, which may hold anything: where it leads to is what it did.
    return {"goto": str(result.goto), "update": sorted(map(str, result.update or ())) if _is_mapping(result) else None}


def _is_mapping(command: Any) -> bool:
    return command.update is None or isinstance(command.update, dict)


def shared_answer(
    result: Any, leader_id: str | None, *, call_id: str | None, name: str, verdict: Verdict
) -> ToolMessage:
    """The answer to a call that was made twice in one turn, from the outcome of the one that ran."""
    message = answer_in(result, leader_id)
    if message is None:
        content = result if isinstance(result, str) else ""
        return _advised_message(ToolMessage(content, tool_call_id=call_id or "", name=name), verdict)
    # A message id of its own: with the leader's, it would replace the leader's message.
    return message.model_copy(update={"tool_call_id": call_id or "", "name": name, "id": None})


def asking_message(messages: Sequence[Any], call_id: str | None) -> tuple[int, AIMessage] | None:
    """The model's message that made the call, and its place."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return place, message
    return None


def turn_id(place: int, message: AIMessage) -> str:
    """One id for each model turn. Messages outside a graph may have none; then their place and calls speak for them."""
    if message.id:
        return message.id
    calls = "\0".join(str(call["id"]) for call in message.tool_calls)
    return f"{place}:{hashlib.blake2b(calls.encode(), digest_size=8).hexdigest()}"


def last_human(messages: Sequence[Any]) -> str | None:
    """What tells the latest message of a person from an earlier one; None if no person spoke."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, HumanMessage) and not _is_summary(message):
            return message.id or f"{place}:{hashlib.blake2b(str(message.content).encode(), digest_size=8).hexdigest()}"
    return None


def first_human(messages: Sequence[Any]) -> str:
    """The id of the message that began a conversation."""
    return next((each.id or "" for each in messages if isinstance(each, HumanMessage)), "")


def _is_summary(message: BaseMessage) -> bool:
    # LangChain's summarisation speaks as a person; compaction is no user turn.
    return message.additional_kwargs.get("lc_source") == "summarization"


def messages_of(state: Any, key: str = "messages") -> Sequence[Any]:
    """The messages in a graph's state: a list, a mapping, a dataclass or a model."""
    if isinstance(state, list):
        return state
    found = state.get(key) if isinstance(state, dict) else getattr(state, key, None)
    return found if isinstance(found, list) else []
