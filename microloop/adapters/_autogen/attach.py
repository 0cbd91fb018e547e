"""How the guard is put into an agent of AutoGen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core.tools import BaseTool, FunctionTool, StaticStreamWorkbench, Workbench

from microloop.adapters._autogen.client import GuardedClient
from microloop.adapters._autogen.functions import in_context
from microloop.adapters._autogen.gate import WorkbenchGate
from microloop.adapters._autogen.workbench import GuardedStreamWorkbench, GuardedWorkbench
from microloop.adapters._gate.halting import OnHalt, check_choice
from microloop.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autogen_core.models import ChatCompletionClient

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


def guarded_assistant(
    guard: Guardrail,
    name: str,
    model_client: ChatCompletionClient,
    *,
    tools: Sequence[BaseTool[Any, Any] | Callable[..., Any]] = (),
    workbench: Workbench | Sequence[Workbench] | None = None,
    on_halt: OnHalt = "raise",
    on_verdict: Callable[[Verdict], None] | None = None,
    **options: Any,
) -> AssistantAgent:
    """An `AssistantAgent` whose tools are guarded. `options` are those of `AssistantAgent`.

    A refused call is answered with a result that is an error. When the run is halted, every call of the turn is
    answered, and in place of the next model call `RunHalted` is raised; with `on_halt="end"` the agent says that the
    run was halted. `on_verdict` is told of every verdict.
    """
    if tools and workbench is not None:
        raise ValueError("tools and workbench cannot be used together: put the tools into a workbench of their own")
    benches = [_bench_of(tools)] if workbench is None else _listed(workbench)
    gate = WorkbenchGate(guard, "AssistantAgent", on_verdict=on_verdict)
    return AssistantAgent(
        name,
        _client(gate, model_client, on_halt),
        workbench=[_workbench(gate, each) for each in benches],
        **options,
    )


def guarded_workbench(
    guard: Guardrail,
    workbench: Workbench | Sequence[BaseTool[Any, Any] | Callable[..., Any]],
    *,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> Workbench:
    """A workbench whose calls are guarded, of another one or of tools. A `guarded_client` ends a halted run."""
    inner = workbench if isinstance(workbench, Workbench) else _bench_of(workbench)
    return _workbench(WorkbenchGate(guard, "Workbench", on_verdict=on_verdict), inner)


def guarded_client(
    guard: Guardrail,
    model_client: ChatCompletionClient,
    *,
    on_halt: OnHalt = "raise",
    on_verdict: Callable[[Verdict], None] | None = None,
) -> ChatCompletionClient:
    """A model client that charges the budgets and ends a halted run. The tools are guarded by `guarded_workbench`."""
    return _client(WorkbenchGate(guard, "ModelClient", on_verdict=on_verdict), model_client, on_halt)


def _client(gate: WorkbenchGate, inner: ChatCompletionClient, on_halt: OnHalt) -> GuardedClient:
    check_choice(on_halt)
    return GuardedClient(inner, gate, on_halt=on_halt)


def _workbench(gate: WorkbenchGate, inner: Workbench) -> Workbench:
    if isinstance(inner, GuardedWorkbench):
        raise AdapterError("this workbench is guarded already: give guarded_assistant the one inside")
    kind = GuardedStreamWorkbench if isinstance(inner, StaticStreamWorkbench) else GuardedWorkbench
    return kind(inner, gate)


def _listed(workbench: Workbench | Sequence[Workbench]) -> list[Workbench]:
    return [workbench] if isinstance(workbench, Workbench) else list(workbench)


def _bench_of(tools: Sequence[BaseTool[Any, Any] | Callable[..., Any]]) -> Workbench:
    return StaticStreamWorkbench([_tool_of(each) for each in tools])


def _tool_of(tool: BaseTool[Any, Any] | Callable[..., Any]) -> BaseTool[Any, Any]:
    """A function becomes the tool that `AssistantAgent` would make of it."""
    return tool if isinstance(tool, BaseTool) else FunctionTool(in_context(tool), description=tool.__doc__ or "")
