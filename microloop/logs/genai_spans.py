"""OpenTelemetry spans of the GenAI conventions: OTLP as JSON, or what the Python SDK's console exporter prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from microloop.logs.events import Answer, Call, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import (
    arguments,
    clock,
    listed,
    mapping,
    milliseconds,
    parsed_text,
    plain,
    text,
    whole,
    whole_text,
    words,
)
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line

_AGENT = "invoke_agent"
_TOOL = "execute_tool"
_MODEL = ("chat", "generate_content", "text_completion")
_NESTING = 256


def recognises(document: Any) -> bool:
    """Spans, alone or under their resources."""
    return any(map(_has_spans, members(document)))


def _has_spans(each: dict[str, Any]) -> bool:
    printed = "trace_id" in mapping(each.get("context")) and "attributes" in each
    return isinstance(each.get("resourceSpans"), list) or printed or ("traceId" in each and "spanId" in each)


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of each trace. A trace is complete with its root, which ends last; until then its spans are kept."""
    return paired(_traces(values))


@dataclass(frozen=True, slots=True)
class _Span:
    line: int
    trace: str
    id: str
    parent: str
    start: int
    attributes: dict[str, Any]
    error: str | None

    @property
    def operation(self) -> str | None:
        return text(self.attributes.get("gen_ai.operation.name"))


def _traces(values: Iterable[Read]) -> Iterator[Event]:
    kept: dict[str, list[_Span]] = {}

    def keep(entry: Entry) -> Iterator[Event]:
        spans = list(_spans(entry))
        for span in spans:
            kept.setdefault(span.trace, []).append(span)
        for span in spans:
            if not span.parent:
                yield from _trace(kept.pop(span.trace, []))

    yield from each_entry(values, keep)
    for spans in kept.values():
        yield from _trace(spans)


def _spans(entry: Entry) -> Iterator[_Span]:
    if "resourceSpans" not in entry.data:
        yield _span(entry.data, entry.line)
        return
    for resource in members(entry.data["resourceSpans"]):
        for scope in members(resource.get("scopeSpans", resource.get("instrumentationLibrarySpans"))):
            for span in members(scope.get("spans")):
                yield _span(span, entry.line)


def _span(span: dict[str, Any], line: int) -> _Span:
    context, status = mapping(span.get("context")), mapping(span.get("status"))
    attributes = _attributes(span.get("attributes"))
    return _Span(
        line,
        str(span.get("traceId") or context.get("trace_id") or ""),
        str(span.get("spanId") or context.get("span_id") or ""),
        str(span.get("parentSpanId") or span.get("parent_id") or ""),
        _start(span),
        attributes,
        _error(status, attributes),
    )


def _start(span: dict[str, Any]) -> int:
    """In milliseconds; OTLP has nanoseconds."""
    nanoseconds = whole_text(span.get("startTimeUnixNano"))
    if nanoseconds is not None:
        return clock(nanoseconds // 1_000_000) or 0
    return milliseconds(span.get("start_time")) or 0


def _attributes(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    pairs = [mapping(pair) for pair in listed(given)]
    return {str(pair.get("key")): _any_value(pair.get("value"), 0) for pair in pairs}


def _any_value(value: Any, depth: int) -> Any:
    """OTLP names the type of each value."""
    kind, held = next(iter(mapping(value).items()), ("", None))
    if depth > _NESTING:
        return None
    if kind == "arrayValue":
        return [_any_value(each, depth + 1) for each in listed(mapping(held).get("values"))]
    if kind == "kvlistValue":
        pairs = [mapping(pair) for pair in listed(mapping(held).get("values"))]
        return {str(pair.get("key")): _any_value(pair.get("value"), depth + 1) for pair in pairs}
    return whole_text(held) if kind == "intValue" else held


def _error(status: dict[str, Any], attributes: dict[str, Any]) -> str | None:
    failed = status.get("code") in (2, "STATUS_CODE_ERROR") or status.get("status_code") == "ERROR"
    kind = text(attributes.get("error.type"))
    if not failed and kind is None:
        return None
    return text(status.get("message")) or text(status.get("description")) or kind or "error"


def _trace(spans: list[_Span]) -> Iterator[Event]:
    by_id = {span.id: span for span in spans}
    named = (text(span.attributes.get("gen_ai.conversation.id")) for span in spans)
    conversation = next(filter(None, named), None)
    for span in sorted(spans, key=attrgetter("start")):
        run_id = _run_id(span, by_id, conversation or span.trace)
        if span.operation == _TOOL:
            yield _tool(span, run_id)
        elif span.operation in _MODEL:
            yield from _answer(span, run_id)


def _run_id(span: _Span, by_id: dict[str, _Span], run_id: str) -> str:
    """An agent that another one started has a run of its own."""
    agents: list[_Span] = []
    above = by_id.get(span.parent)
    seen = {span.id}
    while above is not None and above.id not in seen:
        seen.add(above.id)
        if above.operation == _AGENT:
            agents.append(above)
        above = by_id.get(above.parent)
    return f"{run_id}/{agents[0].id}" if len(agents) > 1 else run_id


def _tool(span: _Span, run_id: str) -> Event:
    tool = text(span.attributes.get("gen_ai.tool.name"))
    if tool is None:
        return BrokenLine(span.line, "a tool's span without gen_ai.tool.name")
    args = arguments(span.attributes.get("gen_ai.tool.call.arguments"))
    call_id = text(span.attributes.get("gen_ai.tool.call.id"))
    return Call(run_id, tool, args, call_id, at=span.start or None, outcome=_outcome(span))


def _outcome(span: _Span) -> Outcome:
    given = span.attributes.get("gen_ai.tool.call.result")
    if span.error is not None:
        return Outcome(error=plain(given) if given else span.error)
    return Outcome() if given is None else Outcome(given)


def _answer(span: _Span, run_id: str) -> Iterator[Event]:
    yield from _new(span, run_id)
    used = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
    yield Spent(run_id, sum(whole(span.attributes.get(key)) for key in used))
    parts = [part for message in _messages(span, "gen_ai.output.messages") for part in members(message.get("parts"))]
    calls = [part for part in parts if part.get("type") == "tool_call"]
    for call in calls:
        tool, args = text(call.get("name")), arguments(call.get("arguments"))
        missing = BrokenLine(span.line, "a call without a name")
        yield Call(run_id, tool, args, text(call.get("id")), span.id, span.start or None) if tool else missing
    said = words(parts)
    if said and not calls:
        yield Said(run_id, "assistant", said, at=span.start or None)


def _new(span: _Span, run_id: str) -> Iterator[Event]:
    """What came in since the model's last answer; each input has all of the conversation before it, too."""
    messages = _messages(span, "gen_ai.input.messages")
    last = max((place for place, message in enumerate(messages) if message.get("role") == "assistant"), default=-1)
    for message in messages[last + 1 :]:
        parts = members(message.get("parts"))
        for part in (part for part in parts if part.get("type") == "tool_call_response"):
            outcome = Outcome(part.get("response", part.get("result")))
            yield Answer(span.line, run_id, outcome, text(part.get("id")), repeated=True)
        said = words([part for part in parts if part.get("type") == "text"])
        if said and message.get("role") == "user":
            yield Said(run_id, "user", said, at=span.start or None)


def _messages(span: _Span, key: str) -> list[dict[str, Any]]:
    return members(parsed_text(span.attributes.get(key)))
