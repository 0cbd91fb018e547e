"""The subclasses that agents become. Each is made for one class: an object can become no other kind of thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smolagents.memory import PlanningStep, ToolCall
from smolagents.utils import AgentError, AgentGenerationError, AgentParsingError

from microloop.adapters._gate.calls import Call
from microloop.errors import BlockedCall, RunHalted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smolagents import ChatMessage, MultiStepAgent, ToolCallingAgent
    from smolagents.memory import ActionStep

    from microloop.adapters._smolagents.runs import Runs

ANSWER = "final_answer"
"""The tool by which an agent ends a run; it does nothing else."""


def _with_charged_words(kind: type[MultiStepAgent]) -> type[MultiStepAgent]:
    """An agent that charges what its model says outside of its steps."""

    class Guarded(kind):
        microloop: Runs

        def _generate_planning_step(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
            for event in super()._generate_planning_step(*args, **kwargs):
                if isinstance(event, PlanningStep):
                    self.microloop.answered(event.token_usage, self.model)
                yield event
            self.microloop.end_if_halted()

        def provide_final_answer(self, *args: Any, **kwargs: Any) -> ChatMessage:
            """What the model says when no steps are left."""
            message: ChatMessage = super().provide_final_answer(*args, **kwargs)
            self.microloop.answered(message.token_usage, self.model)
            return message

    return Guarded


def with_guarded_steps(kind: type[MultiStepAgent]) -> type[MultiStepAgent]:
    """An agent that counts its turns, charges them, and ends a halted run."""

    charged: Any = _with_charged_words(kind)

    class Guarded(charged):
        def run(self, task: str, stream: bool = False, reset: bool = True, *args: Any, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002 - smolagents' own signature
            self.microloop.begin(anew=reset)
            return super().run(task, stream, reset, *args, **kwargs)

        def __call__(self, task: str, **kwargs: Any) -> Any:
            inner, gate = super().__call__, self.microloop.called_by_code
            if gate is None:
                return inner(task, **kwargs)
            return gate.run(
                self.name,
                None,
                lambda: Call(gate.session(), self.name, {"task": task, **kwargs}, tool=self),
                lambda: _outcome(inner, task, kwargs),
            )

        def _step_stream(self, memory_step: ActionStep) -> Iterator[Any]:
            runs, charged = self.microloop, False
            runs.asks()
            try:
                for event in super()._step_stream(memory_step):
                    if isinstance(event, ToolCall) and not charged:
                        charged = True
                        runs.answered(memory_step.token_usage, self.model)
                    yield event
            except AgentGenerationError:
                raise
            except AgentError as error:
                if isinstance(error, AgentParsingError):
                    runs.answered(memory_step.token_usage, self.model)
                    runs.spoke(memory_step.model_output)
                memory_step.error = error
                runs.end_if_halted(error)
                raise
            runs.end_if_halted()

    return _named_as(kind, Guarded)


def with_guarded_calls(kind: type[ToolCallingAgent]) -> type[ToolCallingAgent]:
    """An agent that also asks the guard before each call that it makes."""

    steps: Any = with_guarded_steps(kind)

    class Guarded(steps):
        def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
            inner, runs = super().execute_tool_call, self.microloop
            if tool_name == ANSWER:
                return inner(tool_name, arguments)
            tool = self.tools.get(tool_name) or self.managed_agents.get(tool_name)
            return runs.gate.run(
                tool_name,
                None,
                lambda: runs.call(tool_name, arguments, tool),
                lambda: inner(tool_name, arguments),
            )

    return _named_as(kind, Guarded)


def _outcome(agent: Callable[..., Any], task: str, options: dict[str, Any]) -> Any:
    """What a managed agent gives back to code. If it is halted, that is the end of its run and not of its manager's."""
    try:
        return agent(task, **options)
    except RunHalted as halted:
        raise BlockedCall(halted.verdict) from halted


def _named_as(kind: type[Any], guarded: type[Any]) -> type[Any]:
    """smolagents writes the name of an agent's class into what it saves."""
    guarded.__name__, guarded.__qualname__, guarded.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return guarded
