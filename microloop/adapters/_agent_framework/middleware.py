"""`guardrail_middleware`: the guard in the three kinds of middleware that an agent has, which belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_framework import (
    AgentMiddleware,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionMiddleware,
    Message,
    ResponseStream,
)
from pydantic import BaseModel

from microloop.adapters._agent_framework.gate import FunctionGate, Paused
from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import OnHalt, check_choice, halt_of
from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.sessions import RunIds, session_of
from microloop.adapters._gate.unrun import judge_text, judge_unrun
from microloop.adapters._gate.usage import Usage, spend
from microloop.errors import AdapterError, run_halted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from agent_framework import AgentContext, AgentSession, ChatContext, FunctionInvocationContext

    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict

_ids = RunIds()


def guardrail_middleware(
    guard: Guardrail,
    *,
    on_halt: OnHalt = "end",
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[AgentMiddleware | ChatMiddleware | FunctionMiddleware]:
    """For `Agent(middleware=…)`: checks each tool call before it runs, and records what came of it.

    A refused call is answered with the feedback, advice is the first part of the result. When the run is halted, every
    call of the turn is answered, and the run ends before the model is asked again: with a last message that says so
    and the verdict under `response.additional_properties["microloop"]` (`on_halt="end"`), or with
    `RunHalted` (`on_halt="raise"`). `on_verdict` is told of every verdict, for logs and displays.
    """
    check_choice(on_halt)
    gate = FunctionGate(guard, "guardrail_middleware", on_verdict=on_verdict)
    return [_Run(gate), _Model(gate, raises=on_halt == "raise"), _Tools(gate)]


class _Run(AgentMiddleware):
    """Makes the run's session the current one for as long as the run goes."""

    def __init__(self, gate: FunctionGate) -> None:
        self._gate = gate

    async def process(self, context: AgentContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Find the session, and tell it that a person has spoken."""
        client = getattr(context.agent, "client", None)
        if client is not None and not isinstance(client, ChatMiddlewareLayer):
            raise AdapterError(
                f"{type(client).__name__} has no ChatMiddlewareLayer, so no hook is called before the model is asked "
                "and a halted run cannot be ended: add the layer to the client's base classes"
            )
        session = self._gate.unless_faulty(lambda: self._session(context))
        if session is None:
            await call_next()
            return
        with session:
            await call_next()
        if isinstance(context.result, ResponseStream):
            # The run goes on while the caller reads the stream.
            context.result.with_pull_context_manager(lambda: session)

    def _session(self, context: AgentContext) -> Session:
        guard = self._gate.guard
        named = _session_id(context.session) or _ids.of(context)
        session = child_of_caller(guard) or session_of(guard, named)
        if not _is_answer(context):
            session.entered_run(object())
        return session


class _Model(ChatMiddleware):
    """Around each call of the model."""

    def __init__(self, gate: FunctionGate, *, raises: bool) -> None:
        self._gate = gate
        self._raises = raises

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Ask the model, if the run is not halted, and charge what it spent."""
        session = self._gate.unless_faulty(lambda: session_of(self._gate.guard, _session_id(context.session)))
        verdict = session and self._gate.unless_faulty(lambda: halt_of(session))
        if verdict:
            context.result = self._ending(verdict, stream=context.stream)
            return

        def hear(response: ChatResponse) -> None:
            if session is not None:
                self._gate.unless_faulty(lambda: self._hear(session, context, response))

        if context.stream:
            context.stream_result_hooks.append(hear)
            await call_next()
            return
        await call_next()
        hear(context.result)

    def _ending(self, verdict: Verdict, *, stream: bool) -> ChatResponse | ResponseStream[Any, Any]:
        if self._raises:
            raise run_halted(verdict)
        text = f"This run was halted. {verdict.feedback}"
        mark = {"microloop": verdict.as_dict()}
        if not stream:
            return ChatResponse(messages=Message("assistant", [text]), finish_reason="stop", additional_properties=mark)
        update = ChatResponseUpdate(
            contents=[Content.from_text(text)], role="assistant", finish_reason="stop", additional_properties=mark
        )
        return ResponseStream(_only(update), finalizer=ChatResponse.from_updates)

    def _hear(self, session: Session, context: ChatContext, response: ChatResponse) -> None:
        notes_of(session).next_turn()
        spend(session, _usage(response.usage_details or {}), model=response.model)
        contents = [content for message in response.messages for content in message.contents]
        calls = [content for content in contents if content.type == "function_call"]
        known = _names(context)
        for call in calls:
            if call.name not in known:
                judge_unrun(
                    self._gate, _call(session, call.name, call.arguments, call.call_id), "there is no such tool"
                )
        if not calls:
            judge_text(self._gate, session, response.text)


class _Tools(FunctionMiddleware):
    """Around each call of a tool."""

    def __init__(self, gate: FunctionGate) -> None:
        self._gate = gate

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Check, run, record."""
        tool, call_id = context.function, context.metadata.get("call_id")

        def find() -> Call:
            session = session_of(self._gate.guard, _session_id(context.session))
            return _call(session, tool.name, _arguments(context), call_id, tool)

        async def execute() -> Any:
            await call_next()
            return context.result

        try:
            context.result = await self._gate.arun(tool.name, call_id, find, execute, native=context)
        except Paused:
            return


def _call(session: Session, name: str, arguments: Any, call_id: str | None, tool: Any = None) -> Call:
    batch = notes_of(session).batch
    return Call(session, name, arguments, call_id, call_id if batch else None, batch, tool)


def _arguments(context: FunctionInvocationContext) -> Any:
    arguments = context.arguments
    return arguments.model_dump() if isinstance(arguments, BaseModel) else dict(arguments)


def _session_id(session: AgentSession | None) -> str | None:
    return None if session is None else str(session.session_id)


def _is_answer(context: AgentContext) -> bool:
    """Whether the run goes on after a question: an approval is no new message of a person."""
    return any(
        content.type == "function_approval_response" for message in context.messages for content in message.contents
    )


def _names(context: ChatContext) -> set[str]:
    """The tools that the framework finds for the model's calls."""
    settings = getattr(context.client, "function_invocation_configuration", None) or {}
    tools = [*((context.options or {}).get("tools") or ()), *(settings.get("additional_tools") or ())]
    return {tool.name for tool in tools if hasattr(tool, "name")}


def _usage(details: Any) -> Usage:
    counts = (details.get(f"{name}_token_count") or 0 for name in ("input", "output", "cache_read_input"))
    return Usage(*counts)


async def _only(update: ChatResponseUpdate) -> AsyncIterator[ChatResponseUpdate]:
    yield update
