"""Exports of LangSmith's runs: one object a run, in any order, with or without their children inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from microloop.logs.events import Call, Entry, Event, Outcome, Said, Spent, each_entry, members
from microloop.logs.fields import arguments, dollars, listed, mapping, milliseconds, result, text, whole
from microloop.logs.langchain_messages import message_of, outcome, turn
from microloop.logs.pairing import paired
from microloop.logs.values import Read
from microloop.recorded import BrokenLine, Line


def recognises(document: Any) -> bool:
    """A run says what type it is of, and when it began."""
    return any("run_type" in run and "start_time" in run for run in members(document, "runs"))


def steps(values: Iterable[Read]) -> Iterator[Line]:
    """The steps of all traces. Exports have the newest run first, so that all of them are read before any step."""
    return paired(_in_order(values))


def _in_order(values: Iterable[Read]) -> Iterator[Event]:
    runs: list[tuple[tuple[str, str], int, dict[str, Any]]] = []

    def keep(entry: Entry) -> Iterable[Event]:
        waiting = [entry.data]
        while waiting:
            run = waiting.pop()
            runs.append((_order(run), entry.line, run))
            waiting.extend(members(run.get("child_runs")))
        return []

    for event in each_entry(values, keep, "runs"):
        if isinstance(event, BrokenLine):
            yield event
    by_id = {text(run.get("id")): run for _, _, run in runs}
    for _, line, run in sorted(runs, key=itemgetter(0)):
        yield from _events(run, line, _run_id(run, by_id))


def _order(run: dict[str, Any]) -> tuple[str, str]:
    return text(run.get("start_time")) or "", text(run.get("dotted_order")) or ""


def _run_id(run: dict[str, Any], by_id: Mapping[str | None, dict[str, Any]]) -> str:
    """The trace; what runs inside a tool is another agent, with a run of its own."""
    trace = text(run.get("trace_id")) or text(run.get("id")) or ""
    seen: set[str | None] = set()
    above = text(run.get("parent_run_id"))
    while above in by_id and above not in seen:
        if by_id[above].get("run_type") == "tool":
            return f"{trace}/{above}"
        seen.add(above)
        above = text(by_id[above].get("parent_run_id"))
    return trace


def _events(run: dict[str, Any], line: int, run_id: str) -> Iterable[Event]:
    kind = run.get("run_type")
    if kind == "llm":
        return _answer(run, line, run_id)
    return [_call(run, line, run_id)] if kind == "tool" else []


def _call(run: dict[str, Any], line: int, run_id: str) -> Event:
    tool = text(run.get("name"))
    if tool is None:
        return BrokenLine(line, "a tool's run without a name")
    call_id = text(mapping(run.get("extra")).get("tool_call_id")) or text(_given(run).get("tool_call_id"))
    args = arguments(run.get("inputs"))
    return Call(run_id, tool, args, call_id, at=milliseconds(run.get("start_time")), outcome=_outcome(run))


def _outcome(run: dict[str, Any]) -> Outcome:
    if run.get("error"):
        return Outcome(error=_message(str(run["error"])))
    outputs = mapping(run.get("outputs"))
    if _given(run).get("type") == "tool":
        return outcome(_given(run))
    return Outcome(result(outputs.get("output", outputs))) if outputs else Outcome()


def _given(run: dict[str, Any]) -> dict[str, Any]:
    """The tool's message, where it gave one."""
    return message_of(mapping(run.get("outputs")).get("output"))


def _message(error: str) -> str:
    """LangChain puts the traceback right behind the exception."""
    return error.partition("Traceback (most recent call last)")[0] or error


def _answer(run: dict[str, Any], line: int, run_id: str) -> Iterator[Event]:
    at, message = milliseconds(run.get("start_time")), _said(mapping(run.get("outputs")))
    counted = whole(mapping(message.get("usage_metadata")).get("total_tokens"))
    yield Spent(run_id, 0 if counted else whole(run.get("total_tokens")), _cost(run.get("total_cost")))
    if message.get("content") or message.get("tool_calls") or message.get("invalid_tool_calls"):
        yield from turn(message, line, run_id, text(run.get("id")) or "", at)
    else:
        yield from _text(run, run_id, at)


def _cost(cost: Any) -> float:
    """Decimals are texts in JSON."""
    try:
        return dollars(float(cost))
    except (TypeError, ValueError):
        return 0.0


def _text(run: dict[str, Any], run_id: str, at: int | None) -> Iterator[Event]:
    said = text(mapping(_generation(mapping(run.get("outputs")))).get("text"))
    if said:
        yield Said(run_id, "assistant", said, at=at)


def _said(outputs: dict[str, Any]) -> dict[str, Any]:
    """The message of the model's first answer: LangChain's, or that of OpenAI's wrapped client."""
    found = message_of(mapping(_generation(outputs)).get("message"))
    choice = mapping(mapping(next(iter(listed(outputs.get("choices"))), None)).get("message"))
    calls = [mapping(call) for call in listed(choice.get("tool_calls"))]
    if not choice:
        return found
    named = [{**mapping(call.get("function")), "id": call.get("id")} for call in calls]
    return {"content": choice.get("content"), "tool_calls": [{**each, "args": each.get("arguments")} for each in named]}


def _generation(outputs: dict[str, Any]) -> Any:
    first = next(iter(listed(outputs.get("generations"))), None)
    return next(iter(first), None) if isinstance(first, list) else first
