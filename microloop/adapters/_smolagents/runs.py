"""The runs of one guarded agent, and its gate."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from smolagents.utils import AgentToolExecutionError

from microloop.adapters._gate.calls import Call, Entry
from microloop.adapters._gate.gate import Gate
from microloop.adapters._gate.halting import halt_of
from microloop.adapters._gate.nested import child_of_caller
from microloop.adapters._gate.notes import notes_of
from microloop.adapters._gate.usage import Usage, spend
from microloop.adapters._smolagents.schemas import schema_of
from microloop.adapters._smolagents.steps import ANSWER
from microloop.errors import run_halted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smolagents import Tool
    from smolagents.monitoring import TokenUsage

    from microloop.adapters._smolagents.tool import ToolGate
    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict


class AgentGate(Gate):
    """Answers with text: an exception would take the results of the other calls of the turn away from the model."""

    def answer(self, entry: Entry, text: str) -> str:
        """The feedback."""
        del entry
        return text

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """See `schemas.schema_of`."""
        return schema_of(tool)

    def error_of(self, error: BaseException) -> BaseException:
        """The tool's own exception: smolagents' words around it repeat the arguments, and make no two alike."""
        wrapped = isinstance(error, AgentToolExecutionError) and error.__cause__
        return error.__cause__ if wrapped and error.__cause__ else error


class Runs:
    """Which session the agent's current run is, and what its steps tell the guard."""

    def __init__(self, guard: Guardrail, agent: Any, on_verdict: Callable[[Verdict], None] | None) -> None:
        self.guard = guard
        self.on_verdict = on_verdict
        self.gate = AgentGate(guard, "guard_agent", on_verdict=on_verdict)
        self.kind: type[Any] = type(agent)
        self.tools: dict[str, Tool] = {name: tool for name, tool in agent.tools.items() if name != ANSWER}
        """The agent's class and tools as they were."""
        self.called_by_code: ToolGate | None = None
        """The gate of the agent that manages this one, if it calls it by code."""
        self._session: Session | None = None

    def begin(self, *, anew: bool) -> None:
        """A run begins; one that is not `anew` goes on with the agent's conversation."""
        chosen = child_of_caller(self.guard) or self.guard.current.get()
        if chosen is not None:
            self._session = chosen
        elif anew or self._session is None:
            self._session = self.guard.session(f"run-{uuid.uuid4().hex}")
        self._session.entered_run(object())

    def session(self) -> Session:
        """The session of the current run."""
        return self._session or self.guard.here()

    def call(self, name: str, arguments: Any, tool: Any) -> Call:
        """A call that the model made in its latest turn."""
        session = self.session()
        return Call(session, name, _named(arguments, tool), batch=notes_of(session).batch, tool=tool)

    def asks(self) -> None:
        """The model is asked."""
        self.gate.unless_faulty(lambda: notes_of(self.session()).next_turn())

    def answered(self, usage: TokenUsage | None, model: Any) -> None:
        """The model has answered."""
        if usage is not None:
            tokens = Usage(usage.input_tokens, usage.output_tokens)
            name = getattr(model, "model_id", None)
            self.gate.unless_faulty(lambda: spend(self.session(), tokens, model=name))

    def spoke(self, text: Any) -> None:
        """The model has answered with nothing that could be run."""
        verdict = self.gate.unless_faulty(lambda: self.session().assistant_turn(str(text or "")))
        if verdict is not None and verdict.reason != "none":
            self.gate.tell(verdict)

    def end_if_halted(self, cause: BaseException | None = None) -> None:
        """Ends a halted run. The step stays in the agent's memory, with every call answered."""
        verdict = self.gate.unless_faulty(lambda: halt_of(self.session()))
        if verdict is not None:
            raise run_halted(verdict) from cause


def _named(arguments: Any, tool: Any) -> Any:
    """The arguments by name. A text that is no JSON is the value of the only one."""
    if isinstance(arguments, str) and not arguments.lstrip().startswith("{") and tool is not None:
        return {next(iter(tool.inputs), "input"): arguments}
    return arguments
