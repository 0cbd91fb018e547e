"""The guard between a client and a model: what each request brings, and what becomes of each answer."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import halt_of
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.usage import Usage, spend
from microloop.adapters._litellm.conversation import Conversation, results
from microloop.adapters._litellm.model import ask, dumped, rewritten
from microloop.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from litellm import ModelResponse

    from microloop.adapters._litellm.gate import ProxyGate, Refusal
    from microloop.session import Session
    from microloop.verdict import Verdict

Message = dict[str, Any]
# How often the model is asked again for one request of a client.
_AGAIN = 8


class Mediator:
    """Works for all sessions of one guard. `end` gives a halted run its last answer."""

    def __init__(self, gate: ProxyGate, end: Callable[[ModelResponse, Verdict], ModelResponse]) -> None:
        self._gate = gate
        self._end = end
        self._unguarded: set[Any] = set()
        self._conversations: WeakKeyDictionary[Session, Conversation] = WeakKeyDictionary()

    def receive(self, session: Session, data: Message) -> list[Message]:
        """Records the results in a request; the messages that the model is to read."""
        messages, conversation = data["messages"], self._conversation(session)
        for tool in data.get("tools") or ():
            self._learn(tool)
        if messages[-1]["role"] == "user" and notes_of(session).turn:
            session.user_turn()
        for call_id, content in results(messages):
            advice = self._gate.advice_after((session.id, call_id), content)
            if advice is not None:
                conversation.turn(messages).advice[call_id] = advice
        return list(conversation.restored(messages))

    async def settle(
        self, session: Session, sent: Sequence[Message], data: Message, response: ModelResponse
    ) -> tuple[ModelResponse, list[Message]]:
        """The answer for the client, and the conversation with it. `sent` is what the client knows of it so far."""
        refused: list[Message] = []
        for left in range(_AGAIN, -1, -1):
            self._gate.unless_faulty(functools.partial(self._charge, session, response))
            message = response.choices[0].message
            if not message.tool_calls:
                self._said(session, message.content or "")
                break
            refusals = await self._judged(session, message.tool_calls)
            halt = halt_of(session)
            if halt is not None:
                self._drop(session, message.tool_calls)
                return self._end(response, halt), list(sent)
            if len(refusals) < len(message.tool_calls):
                return response, self._passed(session, sent, message, refused, refusals)
            if left == 0:
                return rewritten(response, refusals[0].text, "stop"), list(sent)
            refused += [dumped(message), *_answers(message.tool_calls, refusals)]
            response = await ask(data, [*data["messages"], *refused])
        return response, list(sent)

    def _said(self, session: Session, text: str) -> None:
        self._gate.unless_faulty(lambda: self._gate.tell(session.assistant_turn(text)))

    def _learn(self, tool: Message) -> None:
        kind = tool.get("type")
        if kind == "function":
            self._gate.declare(tool["function"]["name"], tool["function"].get("parameters"))
        elif kind not in self._unguarded:
            self._unguarded.add(kind)
            logger().warning("tools of type %s run where no hook reaches them: they are not guarded", kind)

    async def _judged(self, session: Session, calls: Sequence[Any]) -> dict[int, Refusal]:
        """Why calls may not run, by place."""
        notes_of(session).next_turn()
        found = {place: await self._refusal(session, each) for place, each in enumerate(calls)}
        return {place: refusal for place, refusal in found.items() if refusal is not None}

    async def _refusal(self, session: Session, call: Any) -> Refusal | None:
        name, arguments, batch = call.function.name or "", call.function.arguments or "{}", notes_of(session).batch
        refusal: Refusal | None = await self._gate.abefore(
            (session.id, call.id),
            name,
            call.id,
            lambda: Call(session, name, arguments, call.id, key=call.id, batch=batch),
        )
        return refusal

    def _passed(
        self,
        session: Session,
        sent: Sequence[Message],
        message: Any,
        refused: list[Message],
        refusals: dict[int, Refusal],
    ) -> list[Message]:
        """Leaves the calls that may run, and notes what the client does not see."""
        calls = message.tool_calls
        hidden, answers = [dumped(calls[place]) for place in refusals], list(_answers(calls, refusals))
        message.tool_calls = [each for place, each in enumerate(calls) if place not in refusals]
        conversation = [*sent, dumped(message)]
        if refused or hidden:
            turn = self._conversation(session).turn(conversation)
            turn.refused, turn.hidden, turn.answers = refused, hidden, answers
        return conversation

    def _drop(self, session: Session, calls: Sequence[Any]) -> None:
        for each in calls:
            self._gate.dropped((session.id, each.id))

    def _charge(self, session: Session, response: ModelResponse) -> None:
        used = getattr(response, "usage", None)
        if used is None:
            return
        cached = getattr(getattr(used, "prompt_tokens_details", None), "cached_tokens", None) or 0
        spend(session, Usage(used.prompt_tokens, used.completion_tokens, cached), model=response.model)

    def _conversation(self, session: Session) -> Conversation:
        return self._conversations.setdefault(session, Conversation())


def _answers(calls: Sequence[Any], refusals: dict[int, Refusal]) -> Iterable[Message]:
    for place, refusal in refusals.items():
        yield {"role": "tool", "tool_call_id": calls[place].id, "content": refusal.text}
