"""One turn of a custom tool node: the calls that it would run, judged before it runs."""

from __future__ import annotations

import copy
import dataclasses
import functools
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.runtime import get_runtime

from microloop.adapters._gate.gate import log_advice
from microloop.adapters._langchain.messages import answer_in, asking_message, messages_of
from microloop.adapters._langchain.passages import checked_by_node
from microloop.adapters._langchain.requests import call_in
from microloop.adapters._langchain.spending import charge_once
from microloop.adapters._langchain.tool_node import current_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langchain_core.messages import ToolCall

    from microloop.adapters._gate.calls import Call, Decision, Entry
    from microloop.adapters._langchain.gate import LangChainGate


class Turn:
    """The pending calls of the last model message, and what becomes of each."""

    def __init__(self, gate: LangChainGate, state: Any, key: str) -> None:
        self._gate = gate
        self._state = state
        self._key = key
        messages = messages_of(state, key)
        self._asking = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
        self._refused: list[ToolMessage] = []
        self._calls = self._pending(messages)
        self._entries = [
            gate.enter(call["name"], call["id"], functools.partial(_find, gate, messages, call)) for call in self._calls
        ]
        self.open = [entry for entry in self._entries if not entry.repeats]
        """What the node may run, as far as it is known."""

    def __bool__(self) -> bool:
        return bool(self._entries)

    def _pending(self, messages: Sequence[Any]) -> list[ToolCall]:
        answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
        calls = self._asking.tool_calls if self._asking is not None else []
        return [call for call in calls if call["id"] not in answered]

    def settle(self, entry: Entry, decision: Decision) -> None:
        """Takes a call away from the node if it may not run."""
        if not decision.approved:
            self.open.remove(entry)
            self._refused.append(self._gate.refused(entry, decision.message))

    @contextmanager
    def running(self) -> Iterator[Any]:
        """Around the node: gives the state as the node sees it, where the model has asked only for what may run."""
        session = next((entry.call.session for entry in self.open if entry.call is not None), None)
        names = [entry.name for entry in self.open]
        try:
            with self._gate.inside(session) if session else nullcontext(), checked_by_node(self._gate.guard, names):
                yield self._reduced()
        except BaseException as error:  # interrupts too: told to the session, and raised again
            # None of the calls has an outcome of its own: it is that of all.
            for entry in self.open:
                self._gate.failed(entry, error)
            raise

    def _reduced(self) -> Any:
        if len(self.open) == len(self._entries) or self._asking is None:
            return self._state
        left_out = [call for call, entry in zip(self._calls, self._entries, strict=True) if entry not in self.open]
        asked = [call for call in self._asking.tool_calls if not any(call is each for each in left_out)]
        replaced = self._asking.model_copy(update={"tool_calls": asked})
        messages = messages_of(self._state, self._key)
        return _with_messages(self._state, self._key, [replaced if each is self._asking else each for each in messages])

    def answered(self, result: Any) -> Any:
        """The node's result, with advice where it is due, and with the answers to what it did not run."""
        for entry in self.open:
            message = answer_in(result, entry.call_id)
            if message is None:
                self._gate.abandon(entry)
                continue
            given = self._gate.done(entry, message)
            if given is not message:
                result = self._exchanged(result, message, given, entry)
        shared = [self._gate.shared(entry) for entry in self._entries if entry.repeats]
        return _added(result, [*self._refused, *shared], self._key)

    def _exchanged(self, result: Any, old: ToolMessage, new: ToolMessage, entry: Entry) -> Any:
        changed = _replaced(result, old, new)
        if answer_in(changed, entry.call_id) is old:
            log_advice(entry.verdict, result)
        return changed


def _find(gate: LangChainGate, messages: Sequence[Any], call: ToolCall) -> Call:
    session = current_session(gate.guard, _namespace(), messages)
    asked = asking_message(messages, call["id"])
    if asked is not None:
        charge_once(session, *asked)
    return call_in(messages, call, session)


def _namespace() -> str | None:
    try:
        info = get_runtime().execution_info
    except RuntimeError:  # the node is called by hand, outside of any graph
        return None
    return None if info is None else info.checkpoint_ns


def _with_messages(state: Any, key: str, messages: list[Any]) -> Any:
    if isinstance(state, list):
        return messages
    if isinstance(state, dict):
        return {**state, key: messages}
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        return dataclasses.replace(state, **{key: messages})
    changed = copy.copy(state)
    setattr(changed, key, messages)
    return changed


def _replaced(result: Any, old: ToolMessage, new: ToolMessage) -> Any:
    """The result with one message exchanged, wherever a node can put one."""
    if result is old:
        return new
    if isinstance(result, list):
        return [
            _replaced(each, old, new) if isinstance(each, dict) else new if each is old else each for each in result
        ]
    if isinstance(result, dict):
        return {name: new if value is old else _in_list(value, old, new) for name, value in result.items()}
    return result  # a `Command` is left as it is


def _in_list(value: Any, old: ToolMessage, new: ToolMessage) -> Any:
    return [new if each is old else each for each in value] if isinstance(value, list) else value


def _added(result: Any, messages: list[ToolMessage], key: str) -> Any:
    """The result with more messages, in the form that the node chose."""
    if not messages:
        return result
    if result is None:
        return {key: messages}
    if isinstance(result, dict):
        before = result.get(key, [])
        return {**result, key: [*(before if isinstance(before, list) else [before]), *messages]}
    if isinstance(result, list):
        is_messages = all(isinstance(each, BaseMessage) for each in result)
        return [*result, *messages] if is_messages else [*result, {key: messages}]
    return [result, {key: messages}]
