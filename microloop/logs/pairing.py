"""Calls joined with their results, as steps in the order of the calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from microloop.logs.events import Answer, Call, Ended, Event, Outcome, Said, Spent
from microloop.recorded import BrokenLine, Line, Step

# A call that is never answered must not hold back all that follows it.
_MOST_WAITING = 64


def paired(events: Iterable[Event]) -> Iterator[Line]:
    """The steps that events make up. A call without a result has an unknown one; a result without a call is broken.

    >>> list(paired([Call("", "search", {"q": "x"}, "7"), Answer(2, "", Outcome("no"), "7")]))
    [Step(run_id='', number=0, tool='search', played={'call_id': '7', 'tool': 'search', 'args': {'q': 'x'}, \
'result': 'no'})]
    """
    runs: dict[str, _Run] = {}
    for event in events:
        if isinstance(event, BrokenLine):
            yield event
            continue
        run = runs.get(event.run_id) or runs.setdefault(event.run_id, _Run(event.run_id))
        if isinstance(event, Ended):
            yield from runs.pop(event.run_id).rest()
            continue
        if isinstance(event, Answer) and not run.answer(event) and not event.repeated:
            yield BrokenLine(event.line, f"the result of a call that is not in the log: {_called(event)}")
        run.take(event)
        yield from run.ready()
    for run in runs.values():
        yield from run.rest()


def _called(answer: Answer) -> str:
    return f'"{answer.call_id or answer.tool}"' if answer.call_id or answer.tool else "without an id"


@dataclass(slots=True)
class _Waiting:
    """A step that may not be complete yet."""

    tool: str
    played: dict[str, Any]
    call_id: str | None = None
    turn: str | None = None
    complete: bool = True


@dataclass(slots=True)
class _Run:
    run_id: str
    number: int = 0
    waiting: deque[_Waiting] = field(default_factory=deque)
    spend: dict[str, Any] = field(default_factory=dict)
    used_ids: set[int] = field(default_factory=set)

    def take(self, event: Call | Answer | Said | Spent) -> None:
        if isinstance(event, Spent):
            self._spend(event)
            return
        self._settle_text(event)
        if isinstance(event, Said):
            self._say(event)
        elif isinstance(event, Call):
            self._call(event)

    def _spend(self, spent: Spent) -> None:
        for key, amount in (("tokens", spent.tokens), ("usd", spent.usd)):
            if amount:
                self.spend[key] = self.spend.get(key, 0) + amount

    def _settle_text(self, event: Call | Answer | Said) -> None:
        """What the model says beside a call is no turn without one."""
        last = self.waiting[-1] if self.waiting else None
        if last is None or "assistant" not in last.played or last.complete:
            return
        if isinstance(event, Call) and event.batch == last.turn:
            self._spend_again(self.waiting.pop())
        elif not (isinstance(event, Said) and event.turn == last.turn):
            last.complete = True

    def _spend_again(self, dropped: _Waiting) -> None:
        spend = dropped.played.get("spend", {})
        self._spend(Spent(self.run_id, spend.get("tokens", 0), spend.get("usd", 0.0)))

    def _say(self, said: Said) -> None:
        last = self.waiting[-1] if self.waiting else None
        if last is not None and said.speaker in last.played and not last.complete:
            last.played["assistant"] += f"\n{said.words}"
            return
        open_end = said.speaker == "assistant" and said.turn is not None
        self._add(_Waiting(said.speaker, {said.speaker: said.words}, turn=said.turn, complete=not open_end), said.at)

    def _call(self, call: Call) -> None:
        if call.outcome is not None and self._finish(call.call_id, call.tool, call.outcome):
            return
        call_id = call.call_id
        # Servers that number calls anew in each turn would have them taken for repetitions of the first.
        if call_id is not None and hash(call_id) in self.used_ids:
            call_id = None
        elif call_id is not None:
            self.used_ids.add(hash(call_id))
        played = {"call_id": call_id, "batch": call.batch, "tool": call.tool, "args": call.args}
        known = {key: value for key, value in played.items() if value is not None}
        self._add(_Waiting(call.tool, known, call.call_id, call.batch, complete=False), call.at)
        if call.outcome is not None:
            _complete(self.waiting[-1], call.outcome)

    def _add(self, waiting: _Waiting, at: int | None) -> None:
        if at is not None:
            waiting.played["at"] = at
        if self.spend:
            waiting.played["spend"], self.spend = self.spend, {}
        self.waiting.append(waiting)

    def answer(self, answer: Answer) -> bool:
        """Whether the call was there to be answered."""
        return self._finish(answer.call_id, answer.tool, answer.outcome)

    def _finish(self, call_id: str | None, tool: str | None, outcome: Outcome) -> bool:
        calls = [each for each in self.waiting if not each.complete and "tool" in each.played]
        found = next((each for each in calls if _answers(call_id, tool, each)), None)
        if found is None:
            return False
        _complete(found, outcome)
        self._give_up_before(found)
        return True

    def _give_up_before(self, answered: _Waiting) -> None:
        """Once a later turn's call is answered, no answer to an earlier one's will come."""
        for each in self.waiting:
            if each is answered:
                return
            if answered.turn is not None and each.turn != answered.turn:
                _complete(each, Outcome())

    def ready(self) -> Iterator[Step]:
        """The steps that are complete, and that no open one comes before."""
        while self.waiting and (self.waiting[0].complete or len(self.waiting) > _MOST_WAITING):
            yield self._step(self.waiting.popleft())

    def rest(self) -> Iterator[Step]:
        """The steps that are left when nothing more comes."""
        while self.waiting:
            yield self._step(self.waiting.popleft())
        if self.spend:
            yield self._step(_Waiting("spend", {"spend": self.spend}))

    def _step(self, waiting: _Waiting) -> Step:
        _complete(waiting, Outcome())
        self.number += 1
        return Step(self.run_id, self.number - 1, waiting.tool, waiting.played)


def _answers(call_id: str | None, tool: str | None, waiting: _Waiting) -> bool:
    if call_id is not None:
        return waiting.call_id == call_id
    return tool is None or waiting.tool == tool


def _complete(waiting: _Waiting, outcome: Outcome) -> None:
    if waiting.complete:
        return
    waiting.complete = True
    if "tool" not in waiting.played:
        return
    if outcome.error is not None:
        waiting.played["error"] = outcome.error
    else:
        waiting.played["result"] = outcome.value
