"""`GuardrailMiddleware`: the guard in the hooks of a LangChain agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
from langchain.agents.middleware.types import ContextT, OmitFromInput, PrivateStateAttr, ResponseT
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from typing_extensions import NotRequired

from microloop.adapters._gate.halting import OnHalt, check_choice, halt_of
from microloop.adapters._langchain.context import config_of, within
from microloop.adapters._langchain.gate import LangChainGate
from microloop.adapters._langchain.messages import MARK
from microloop.adapters._langchain.replies import heard
from microloop.adapters._langchain.requests import call_of
from microloop.adapters._langchain.runs import hear, session_of
from microloop.errors import run_halted
from microloop.log import logger
from microloop.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware.types import ModelCallResult
    from langchain_core.messages import ToolMessage
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.runtime import Runtime
    from langgraph.types import Command

    from microloop.guardrail import Guardrail
    from microloop.session import Session


class GuardState(AgentState[ResponseT]):
    """What the middleware adds to the agent's state."""

    microloop_session: NotRequired[Annotated[str, PrivateStateAttr]]
    microloop_halted: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """In the agent's output: the verdict that ended the run."""


class GuardrailMiddleware(AgentMiddleware[GuardState[ResponseT], ContextT, ResponseT]):
    """Checks each tool call of an agent before it runs, and records what came of it.

    A refused call is answered with the feedback, advice stands at the head of the result. When the run is halted, every
    call of the turn is answered, and the run ends before the model is asked again: with a last message that says so and
    the verdict as `microloop_halted` in the output (`on_halt="end"`), or with `RunHalted` (`on_halt="raise"`).
    `on_verdict` is told of every verdict, for logs and displays.
    """

    state_schema = GuardState

    def __init__(
        self,
        guard: Guardrail,
        *,
        on_halt: OnHalt = "end",
        on_verdict: Callable[[Verdict], None] | None = None,
    ) -> None:
        super().__init__()
        check_choice(on_halt)
        self.tools = []
        self._guard = guard
        self._raises = on_halt == "raise"
        self._unguarded: set[str] = set()
        # A halt ends the run in `before_model` or `after_agent`, when all calls of the turn are answered.
        self._gate = LangChainGate(guard, "GuardrailMiddleware", on_verdict=on_verdict)

    # The run

    def before_agent(self, state: GuardState[ResponseT], runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        """Find the session of this run, and tell it that a person has spoken."""
        return self._gate.unless_faulty(lambda: self._begin(state, runtime))

    async def abefore_agent(self, state: GuardState[ResponseT], runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        """See `before_agent`."""
        return self.before_agent(state, runtime)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: GuardState[ResponseT], runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        """End a halted run instead of asking the model again."""
        del runtime
        ending = self._gate.unless_faulty(lambda: self._ending(state))
        return ending and {"jump_to": "end", **ending}

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: GuardState[ResponseT], runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        """See `before_model`."""
        return self.before_model(state, runtime)

    def after_agent(self, state: GuardState[ResponseT], runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        """End a halted run that ended without asking the model again, as by a tool with `return_direct`."""
        del runtime
        return None if state.get("microloop_halted") else self._gate.unless_faulty(lambda: self._ending(state))

    async def aafter_agent(self, state: GuardState[ResponseT], runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        """See `after_agent`."""
        return self.after_agent(state, runtime)

    def _begin(self, state: GuardState[ResponseT], runtime: Runtime[ContextT]) -> dict[str, Any]:
        info = runtime.execution_info
        with within(config_of(runtime)):
            session = session_of(self._guard, None if info is None else info.checkpoint_ns, state["messages"])
        hear(session, state["messages"])
        lifted = {"microloop_halted": None} if state.get("microloop_halted") else {}
        return {"microloop_session": session.id, **lifted}

    def _ending(self, state: GuardState[ResponseT]) -> dict[str, Any] | None:
        verdict = halt_of(self._session(state))
        if verdict is None:
            return None
        if self._raises:
            raise run_halted(verdict)
        message = AIMessage(f"This run was halted. {verdict.feedback}", additional_kwargs={MARK: verdict.as_dict()})
        return {"messages": [message], "microloop_halted": verdict.as_dict()}

    # The model

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelCallResult[ResponseT]:
        """Get to know the tools, and answer calls whose arguments are no JSON: no tool hook ever sees them."""
        self._declare(request)
        return self._heard(request, handler(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelCallResult[ResponseT]:
        """See `wrap_model_call`."""
        self._declare(request)
        return self._heard(request, await handler(request))

    def _declare(self, request: ModelRequest[ContextT]) -> None:
        for tool in request.tools:
            if isinstance(tool, BaseTool):
                self._gate.declare(tool.name, tool)
            else:
                self._warn_of(str(tool.get("name") or tool.get("type")))

    def _warn_of(self, tool: str) -> None:
        if tool not in self._unguarded:
            self._unguarded.add(tool)
            logger().warning("%s runs at the model's provider, where no hook reaches it: it is not guarded", tool)

    def _heard(self, request: ModelRequest[ContextT], response: ModelResponse[ResponseT]) -> ModelCallResult[ResponseT]:
        answered = self._gate.unless_faulty(lambda: heard(self._gate, self._session(request.state), response))
        return response if answered is None else answered

    # The tools

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Check, run, record."""
        call = request.tool_call
        answer: ToolMessage | Command[Any] = self._gate.run(
            call["name"],
            call["id"],
            lambda: call_of(request, self._session(request.state)),
            lambda: handler(request),
        )
        return answer

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """See `wrap_tool_call`."""
        call = request.tool_call
        with within(getattr(request.runtime, "config", None)):
            answer: ToolMessage | Command[Any] = await self._gate.arun(
                call["name"],
                call["id"],
                lambda: call_of(request, self._session(request.state)),
                lambda: handler(request),
            )
        return answer

    def _session(self, state: Any) -> Session:
        name = state.get("microloop_session")
        # A run that was paused before the agent had this middleware goes on without its `before_agent`.
        return self._guard.session(name) if name else session_of(self._guard, None, state["messages"])
