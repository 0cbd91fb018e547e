"""`GuardrailHooks`: the guard in the hooks of CrewAI.

CrewAI swallows what a hook raises, all but `HookAborted`, and runs the tool. So nothing is left to chance here: what
fails before a tool refuses the call, and ends the run in the hook after it.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from crewai.agents.parser import AgentAction, OutputParserError, parse
from crewai.hooks import HookAborted, InterceptionPoint, get_hooks, register_hook, unregister_hook
from crewai.hooks.dispatch import get_scoped_hooks, scoped_hooks
from crewai.tools.tool_failure import ToolExecutionFailedError, ToolFailure, handle_tool_failure

from microloop.adapters._crewai.gate import HookGate
from microloop.adapters._crewai.refusals import SOURCE, CrewHalted
from microloop.adapters._crewai.runs import charge, enter_run, session_of
from microloop.adapters._crewai.unread import judge_unread
from microloop.adapters._gate.calls import Call
from microloop.adapters._gate.halting import halt_of
from microloop.adapters._gate.notes import notes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crewai.hooks import LLMCallHookContext, ToolCallHookContext

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


class GuardrailHooks:
    """Checks each tool call of CrewAI's agents before it runs, and records what came of it.

    `with hooks.scope():` guards the runs that are started inside the block; `hooks.attach()` guards every run of the
    process until `hooks.detach()`. A refused call is answered with the feedback, and stands in the task's
    `tool_failures`. When a run is halted, every call of the turn is answered, and `kickoff` raises `RunHalted` before
    the model is asked again. `on_verdict` is told of every verdict.
    """

    def __init__(self, guard: Guardrail, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        self._guard = guard
        self._gate = HookGate(guard, "GuardrailHooks", on_verdict=on_verdict)
        self._refused: dict[int, ToolFailure | Exception] = {}
        self._hooks = {
            InterceptionPoint.PRE_MODEL_CALL: self._before_model,
            InterceptionPoint.POST_MODEL_CALL: self._after_model,
            InterceptionPoint.PRE_TOOL_CALL: self._before_tool,
            InterceptionPoint.POST_TOOL_CALL: self._after_tool,
        }

    # Attach

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Guards the runs that are started inside the block, in whatever threads and tasks they go on."""
        ours = {} if self._attached() else self._hooks
        # A scope of CrewAI hides the one around it.
        inner = {
            point: [*get_scoped_hooks(point), *([ours[point]] if point in ours else [])] for point in InterceptionPoint
        }
        with scoped_hooks(inner):
            yield

    def attach(self) -> None:
        """Guards every run of the process."""
        if not self._attached():
            for point, hook in self._hooks.items():
                register_hook(point, hook)

    def detach(self) -> None:
        """Takes back `attach`."""
        for point, hook in self._hooks.items():
            unregister_hook(point, hook)

    def _attached(self) -> bool:
        """Whether hooks of this guard are in effect here."""
        point = InterceptionPoint.PRE_TOOL_CALL
        owners = (getattr(each, "__self__", None) for each in [*get_hooks(point), *get_scoped_hooks(point)])
        return any(isinstance(each, GuardrailHooks) and each._guard is self._guard for each in owners)  # noqa: SLF001 - of the same class

    # The model

    def _before_model(self, context: LLMCallHookContext) -> None:
        with _heard():
            # An agent keeps the model's hooks from when it was first used.
            verdict = self._gate.unless_faulty(lambda: self._asked(context)) if self._attached() else None
            if verdict is not None:
                raise CrewHalted(verdict)

    def _asked(self, context: LLMCallHookContext) -> Verdict | None:
        session = session_of(self._guard, context.task)
        enter_run(session)
        charge(session, context.llm)
        if context.executor is not None:  # else it is no turn of an agent, but CrewAI's own use of the model
            judge_unread(self._gate, session, context.messages)
            notes_of(session).next_turn()
        return halt_of(session)

    def _after_model(self, context: LLMCallHookContext) -> None:
        with _heard():
            if self._attached():
                self._gate.unless_faulty(lambda: self._answered(context))

    def _answered(self, context: LLMCallHookContext) -> None:
        session = session_of(self._guard, context.task)
        charge(session, context.llm)
        text = context.response or ""
        if context.executor is not None and not _calls_a_tool(text):
            verdict = session.assistant_turn(text)
            if verdict.reason != "none":
                self._gate.tell(verdict)

    # The tools

    def _before_tool(self, context: ToolCallHookContext) -> bool | None:
        key = id(context.tool_input)
        try:
            refused = self._gate.before(key, context.tool_name, None, lambda: self._call(context), ExitStack())
        except Exception as error:  # noqa: BLE001 - raised by `_after_tool`, where CrewAI does not swallow it
            refused = error
        if refused is None:
            # Where another hook after a tool ends the run, ours is not called; the address may come again.
            self._refused.pop(key, None)
            return None
        self._refused[key] = refused
        return False

    def _after_tool(self, context: ToolCallHookContext) -> str | None:
        key = id(context.tool_input)
        with _heard():
            refused = self._refused.pop(key, None)
            if isinstance(refused, Exception):
                raise refused
            if refused is not None:
                return self._report(context, refused)
            result = self._gate.after(key, context)
            return result if isinstance(result, str) else None

    def _call(self, context: ToolCallHookContext) -> Call:
        session = session_of(self._guard, context.task)
        charge(session, getattr(context.agent, "llm", None))
        # CrewAI makes a new object of a tool for each task.
        tool = getattr(context.tool, "_original_tool", None) or context.tool
        return Call(session, context.tool_name, context.tool_input, batch=notes_of(session).batch, tool=tool)

    def _report(self, context: ToolCallHookContext, failure: ToolFailure) -> str:
        handle_tool_failure(
            failure,
            tool_name=context.tool_name,
            tool_args=context.tool_input,
            tool=context.tool,
            agent=context.agent,
            task=context.task,
            crew=context.crew,
        )
        session = session_of(self._guard, context.task)
        verdict = halt_of(session)
        if verdict is not None and notes_of(session).batch is None:
            # An agent that was first used before `attach` asks its model without our hook.
            raise CrewHalted(verdict)
        text: str = failure.message
        return text


@contextmanager
def _heard() -> Iterator[None]:
    """What is raised inside ends the run, in the one form in which CrewAI does not swallow it."""
    try:
        yield
    except HookAborted:
        raise
    except ToolExecutionFailedError as error:  # by the host's own ToolFailurePolicy.RAISE
        raise HookAborted(str(error), SOURCE) from error
    except Exception as error:  # of any other kind CrewAI takes no notice, and runs the tool
        raise HookAborted(f"{type(error).__name__}: {error}", SOURCE) from error


def _calls_a_tool(text: str) -> bool:
    """Whether a text is a call, as models write it that have no native ones."""
    try:
        return isinstance(parse(text), AgentAction)
    except OutputParserError:
        return False
