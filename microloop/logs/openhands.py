"""OpenHands' events: those of its SDK (`kind`), and the older ones with `action` and `observation`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from microloop.logs.events import Answer, Call, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import arguments, dollars, listed, mapping, milliseconds, plain, result, text, whole, words
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line

_KEYS = ("history", "trajectory", "events")
_KINDS = ("ActionEvent", "ObservationEvent", "MessageEvent", "AgentErrorEvent", "SystemPromptEvent")
_SOURCES = ("agent", "user", "environment")
_NO_CALLS = frozenset(
    (
        "message",
        "system",
        "recall",
        "change_agent_state",
        "condensation",
        "condensation_request",
        "loop_recovery",
        "null",
        "start",
        "pause",
        "resume",
        "stop",
    )
)
_NO_RESULTS = frozenset(("agent_state_changed", "recall", "null", "condense", "llm_response", "loop_detection"))
# What stands among the arguments and is none of the tool's; most of it would make equal calls differ.
_HOSTS = frozenset(
    (
        "thought",
        "hidden",
        "blocking",
        "confirmation_state",
        "security_risk",
        "is_confirmed",
        "keep_prompt",
        "set_hard_timeout",
        "hard_timeout",
        "impl_source",
        "is_static",
    )
)
_THINKING_HOSTS = _HOSTS - {"thought"}
_SDK_HOSTS = frozenset(("kind", "security_risk"))


def recognises(document: Any) -> bool:
    """An event says who it comes from, and what it is."""
    return any(map(_is_event, members(document, *_KEYS)))


def _is_event(event: dict[str, Any]) -> bool:
    old = event.get("source") in _SOURCES and any(isinstance(event.get(key), str) for key in ("action", "observation"))
    return old or event.get("kind") in _KINDS


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of events: loose, in lists, or in objects with `history`, `trajectory` or `events`."""
    return paired(each_entry(values, _Events().of, *_KEYS))


class _Events:
    """Older events tell all that was spent so far: what is new is the difference."""

    def __init__(self) -> None:
        self._tokens = 0
        self._usd = 0.0

    def of(self, entry: Entry) -> Iterator[Event]:
        event = entry.data
        if "kind" in event:
            yield from _sdk_events(entry)
        elif isinstance(event.get("action"), str):
            yield from self._spent(entry)
            yield from _action(entry)
        elif isinstance(event.get("observation"), str) and event["observation"] not in _NO_RESULTS:
            yield from _observation(entry)

    def _spent(self, entry: Entry) -> Iterator[Event]:
        metrics = mapping(entry.data.get("llm_metrics"))
        usage = mapping(metrics.get("accumulated_token_usage"))
        tokens = whole(usage.get("prompt_tokens")) + whole(usage.get("completion_tokens"))
        usd = dollars(metrics.get("accumulated_cost"))
        if metrics:
            yield Spent(entry.run_id, max(0, tokens - self._tokens), max(0.0, usd - self._usd))
            self._tokens, self._usd = tokens, usd


def _action(entry: Entry) -> Iterator[Event]:
    event, args = entry.data, mapping(entry.data.get("args"))
    action, at = event["action"], milliseconds(entry.data.get("timestamp"))
    if action == "message" and event.get("source") in ("user", "agent"):
        said = text(args.get("content")) or text(event.get("message"))
        speaker = "user" if event["source"] == "user" else "assistant"
        yield from [Said(entry.run_id, speaker, said, at=at)] if said else []
    elif event.get("source") == "agent" and action not in _NO_CALLS:
        called = mapping(event.get("tool_call_metadata"))
        tool = text(called.get("function_name")) or action
        batch = text(mapping(called.get("model_response")).get("id"))
        own = _own(args, _THINKING_HOSTS if action == "think" else _HOSTS)
        yield Call(entry.run_id, tool, own, _event_id(event.get("id")), batch, at)


def _own(args: dict[str, Any], hosts: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in args.items() if key not in hosts and value is not None}


def _event_id(number: Any) -> str | None:
    return str(number) if isinstance(number, (int, str)) else None


def _observation(entry: Entry) -> Iterator[Event]:
    event, kind = entry.data, entry.data["observation"]
    # What nothing caused is no result: a message of the environment itself.
    if event.get("cause") is None:
        return
    content = event.get("content")
    outcome = Outcome(error=plain(content)) if kind in ("error", "user_rejected") else Outcome(result(content))
    # Users run commands and recall memories too; only the agent's are calls.
    yield Answer(entry.line, entry.run_id, outcome, _event_id(event["cause"]), repeated=True)


def _sdk_events(entry: Entry) -> Iterable[Event]:
    event, kind = entry.data, entry.data["kind"]
    call_id, tool = text(event.get("tool_call_id")), text(event.get("tool_name"))
    if kind == "ActionEvent":
        return [_sdk_call(entry, tool, call_id)]
    if kind == "MessageEvent":
        return _sdk_message(entry)
    if kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        return [Answer(entry.line, entry.run_id, _sdk_outcome(event), call_id, tool)]
    return []


def _sdk_call(entry: Entry, tool: str | None, call_id: str | None) -> Event:
    event, written = entry.data, mapping(entry.data.get("tool_call"))
    tool = tool or text(written.get("name"))
    if tool is None:
        return BrokenLine(entry.line, "an action without a tool_name")
    # What could not be made an action has no more than what the model wrote.
    action = event.get("action") or arguments(written.get("arguments"))
    args = _own(action, _SDK_HOSTS) if isinstance(action, dict) else arguments(action)
    batch = text(event.get("llm_response_id"))
    return Call(entry.run_id, tool, args, call_id, batch, milliseconds(event.get("timestamp")))


def _sdk_message(entry: Entry) -> Iterator[Event]:
    said = words(mapping(entry.data.get("llm_message")).get("content"))
    speaker = {"user": "user", "agent": "assistant"}.get(str(entry.data.get("source")))
    if said and speaker:
        yield Said(entry.run_id, speaker, said, at=milliseconds(entry.data.get("timestamp")))


def _sdk_outcome(event: dict[str, Any]) -> Outcome:
    told = text(event.get("error")) or text(event.get("rejection_reason"))
    if told:
        return Outcome(error=told)
    observation = mapping(event.get("observation"))
    fields = {key: value for key, value in observation.items() if key not in ("kind", "is_error")}
    content = observation["content"] if listed(observation.get("content")) else fields
    return Outcome(error=plain(content)) if observation.get("is_error") is True else Outcome(result(content))
