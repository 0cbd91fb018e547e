"""AG2 before 1.0 (`import autogen`): the agents of a chat, guarded where they stand.

guard_agents(guard, assistant, executor)  # when their tools are registered
result = executor.initiate_chat(assistant, message="Find cats.")
"""

from __future__ import annotations

import functools
import inspect
import json
import uuid
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.gate import Gate
from microloop.adapters._gate.halting import OnHalt, check_choice, halt_of
from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.unrun import judge_text, judge_unrun
from microloop.adapters._gate.usage import Usage, spend
from microloop.adapters._gate.versions import require_hooks
from microloop.errors import AdapterError, BlockedCall, run_halted
from microloop.verdict import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict

if find_spec("autogen") is None:
    raise AdapterError(
        "ag2 is not installed as autogen; 0.9.10 or newer, before 1.0, is needed: pip install 'ag2>=0.9.10,<1'"
    )

__all__ = ["guard_agents"]


def guard_agents(
    guard: Guardrail,
    *agents: Any,
    on_halt: OnHalt = "raise",
    on_verdict: Callable[[Verdict], None] | None = None,
) -> None:
    """Guards the agents of one chat: who asks a model, who runs the tools, and who begins it.

    A refused call is answered with `Error:` and the feedback, advice stands at the head of the result. When the run is
    halted, every call of the turn is answered, and in place of the next model call `RunHalted` is raised; with
    `on_halt="end"` the chat ends without another word. Tools that are registered later are not guarded.
    """
    check_choice(on_halt)
    chat = _Chat(guard, raises=on_halt == "raise", on_verdict=on_verdict)
    for agent in agents:
        if not hasattr(agent, "function_map"):
            raise AdapterError(f"{type(agent).__name__} is no ConversableAgent of autogen: it has no function_map")
        require_hooks(type(agent), "initiate_chat", "a_initiate_chat", "generate_reply", "a_generate_reply")
        if hasattr(agent, "microloop_chat"):
            raise AdapterError(f"agent {agent.name} is guarded already; guard all agents of a chat in one call")
        agent.__class__ = _guarded_class(type(agent), chat)
        for name, function in agent.function_map.items():
            guard.covers(name, "guard_agents", agent.name)
            # The map itself is changed: group chats copy it into an executor of their own.
            agent.function_map[name] = chat.guarded(name, function)


class _ToolGate(Gate):
    """Answers by exceptions: AG2 shows their text to the model."""

    def answer(self, entry: Entry, text: str) -> Any:
        del text
        raise (run_halted if entry.verdict.action is Action.HALT else BlockedCall)(entry.verdict)

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        parameters: Mapping[str, Any] | None = tool["function"].get("parameters")
        return parameters


class _Chat:
    """The session of the chat that is going on, and what its agents have in common."""

    def __init__(self, guard: Guardrail, *, raises: bool, on_verdict: Callable[[Verdict], None] | None) -> None:
        self._gate = _ToolGate(guard, "guard_agents", on_verdict=on_verdict)
        self._raises = raises
        self._session: Session | None = None
        self._running = 0

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Around a chat. One that an agent begins inside it, as group chats do, belongs to it."""
        guard = self._gate.guard
        if self._running == 0:
            self._session = child_of_caller(guard) or guard.current.get() or guard.session(f"chat-{uuid.uuid4().hex}")
            self._session.entered_run(object())
        self._running += 1
        try:
            with self.session:
                yield
        finally:
            self._running -= 1

    @property
    def session(self) -> Session:
        """AG2 runs coroutines in threads of their own, where no context says which session is the current one."""
        guard = self._gate.guard
        return guard.current.get() or self._session or guard.here()

    def guarded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A tool that asks the guard before it runs."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def arun(**arguments: Any) -> Any:
                return await self._gate.arun(
                    name, None, lambda: self._call(name, arguments), lambda: function(**arguments)
                )

            return arun

        @functools.wraps(function)
        def run(**arguments: Any) -> Any:
            return self._gate.run(name, None, lambda: self._call(name, arguments), lambda: function(**arguments))

        return run

    def _call(self, name: str, arguments: Any, call_id: str | None = None) -> Call:
        batch = notes_of(self.session).batch
        return Call(self.session, name, arguments, call_id, call_id if batch else None, batch)

    def ends(self, agent: Any, last: Mapping[str, Any]) -> bool:
        """Whether the run is halted, and its calls are answered."""
        if last.get("tool_calls") or agent.client is None:
            return False
        for tool in (agent.llm_config or {}).get("tools", ()):
            self._gate.declare(tool["function"]["name"], tool)
        verdict = self._gate.unless_faulty(lambda: halt_of(self.session))
        if verdict is not None and self._raises:
            raise run_halted(verdict)
        return verdict is not None

    def hear(self, agent: Any, last: Mapping[str, Any], reply: Any, before: Mapping[str, Usage]) -> None:
        """What the model answered, and what it spent."""
        if agent.client is not None and reply is not None and not last.get("tool_calls"):
            self._gate.unless_faulty(lambda: self._hear(agent, reply, before))

    def _hear(self, agent: Any, reply: Any, before: Mapping[str, Usage]) -> None:
        notes_of(self.session).next_turn()
        for model, used in used_by(agent).items():
            spend(self.session, used - before.get(model, Usage()), model=model)
        calls = reply.get("tool_calls") if isinstance(reply, dict) else None
        known = {tool["function"]["name"] for tool in (agent.llm_config or {}).get("tools", ())}
        for call in calls or ():
            name, arguments = call["function"]["name"], call["function"].get("arguments") or "{}"
            error = _unreadable(arguments) or (None if name in known else f"there is no function {name}")
            if error is not None:
                judge_unrun(self._gate, self._call(name, arguments, call.get("id")), error)
        if not calls:
            text = reply.get("content") if isinstance(reply, dict) else reply
            judge_text(self._gate, self.session, text or "")


def used_by(agent: Any) -> dict[str, Usage]:
    """What an agent's client has spent since it was made, by model."""
    summary = (agent.client and agent.client.actual_usage_summary) or {}
    return {
        model: Usage(counts["prompt_tokens"], counts["completion_tokens"])
        for model, counts in summary.items()
        if isinstance(counts, dict)
    }


def _unreadable(arguments: str) -> str | None:
    try:
        json.loads(arguments)
    except ValueError as error:
        return str(error)
    return None


def _guarded_class(kind: type[Any], chat: _Chat) -> type[Any]:
    """A subclass of an agent's class that stands around chats and replies."""

    class Guarded(kind):
        microloop_chat: ClassVar[_Chat] = chat

        def initiate_chat(self, *args: Any, **kwargs: Any) -> Any:
            with chat.begun():
                return super().initiate_chat(*args, **kwargs)

        async def a_initiate_chat(self, *args: Any, **kwargs: Any) -> Any:
            with chat.begun():
                return await super().a_initiate_chat(*args, **kwargs)

        def generate_reply(self, messages: Any = None, sender: Any = None, **kwargs: Any) -> Any:
            messages = self._oai_messages[sender] if messages is None else messages
            last = messages[-1] if messages else {}
            if chat.ends(self, last):
                return None
            before = used_by(self)
            reply = super().generate_reply(messages, sender, **kwargs)
            chat.hear(self, last, reply, before)
            return reply

        async def a_generate_reply(self, messages: Any = None, sender: Any = None, **kwargs: Any) -> Any:
            messages = self._oai_messages[sender] if messages is None else messages
            last = messages[-1] if messages else {}
            if chat.ends(self, last):
                return None
            before = used_by(self)
            reply = await super().a_generate_reply(messages, sender, **kwargs)
            chat.hear(self, last, reply, before)
            return reply

    Guarded.__name__, Guarded.__qualname__, Guarded.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return Guarded
