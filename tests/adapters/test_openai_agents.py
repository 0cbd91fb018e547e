"""The OpenAI Agents SDK adapter, beyond the contract: context, errors, timeouts, halts, approvals, wrapped tools."""

from __future__ import annotations

import asyncio
import gc
import importlib
import weakref
from dataclasses import dataclass
from typing import Any

import pytest
from agents import (
    Agent,
    AgentBase,
    FunctionTool,
    ModelBehaviorError,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    SQLiteSession,
    ToolOutputText,
    UserError,
    function_tool,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from agents.usage import Usage
from openai_agents_model import agent_of, calls, outputs, run, search

from microloop import AdapterError, Guardrail, RunHalted, guardrail
from microloop.adapters._gate import versions
from microloop.adapters._openai_agents import agent as agent_module
from microloop.adapters._openai_agents.gate import AgentsGate
from microloop.adapters.openai_agents import guarded_agent, wrap_tool

pytestmark = pytest.mark.adapter
BLOCKED = "microloop"
UNTRACED = RunConfig(tracing_disabled=True)
STRICT = "strict_loop_detection"  # it refuses the third identical call


@dataclass
class Reader:
    name: str


def test_context_and_values_pass_untouched() -> None:
    seen: list[Any] = []

    @function_tool
    def who(context: RunContextWrapper[Reader], query: str) -> dict[str, Any]:
        """Say who asks."""
        seen.append(context.context)
        return {"name": context.context.name, "of": query}

    reader = Reader("Ada")
    result = run(guarded_agent(Guardrail(), agent_of(calls(1, "who"), who)), context=reader)
    assert seen == [reader]
    assert outputs(result) == [str({"name": "Ada", "of": "cats"})]


def test_an_exception_is_told_in_the_words_of_the_sdk_and_known_by_its_own() -> None:
    @function_tool
    def broken(path: str) -> str:
        """Read."""
        raise OSError(f"no such volume: {path}")

    turns = [turn for name in "abcdef" for turn in calls(1, "broken", {"path": name})]
    result = run(guarded_agent(Guardrail(), agent_of(turns, broken)))
    assert [each[:38] for each in outputs(result)] == ["An error occurred while running the to"] * 6


def test_an_exception_that_the_tool_lets_through_ends_the_run_as_it_would_without_a_guard() -> None:
    @function_tool(failure_error_function=None)
    def broken(query: str) -> str:
        """Search."""
        raise OSError("no such volume")

    with pytest.raises(UserError, match="no such volume") as raised:
        run(guarded_agent(Guardrail(), agent_of(calls(1, "broken"), broken)))
    assert isinstance(raised.value.__cause__, OSError)


def test_a_tool_that_always_times_out_is_a_loop() -> None:
    @function_tool(timeout=0.001)
    async def endless(query: str) -> str:
        """Search."""
        await asyncio.Event().wait()
        return "never"

    with pytest.raises(RunHalted) as halted:
        run(guarded_agent(Guardrail(), agent_of(calls(20, "endless"), endless)))
    assert "timed out" in outputs(halted.value)[0]
    assert halted.value.verdict.reason.startswith("loop.")


def test_advice_is_the_first_part_of_output_that_has_parts() -> None:
    @function_tool
    def look(query: str) -> ToolOutputText:
        """Look."""
        return ToolOutputText(text="nothing")

    result = run(guarded_agent(Guardrail("balanced"), agent_of(calls(3, "look"), look)))
    advised = outputs(result)[-1]
    assert [part["type"] for part in advised] == ["input_text", "input_text"]
    assert "microloop" in advised[0]["text"]


def test_a_tool_with_an_invoker_of_its_own_is_guarded_too() -> None:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return f"{context.tool_name} got {arguments}"

    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    own = FunctionTool(name="own", description="Own.", params_json_schema=schema, on_invoke_tool=invoke)
    result = run(guarded_agent(Guardrail(STRICT), agent_of(calls(3, "own", ""), own)))
    assert outputs(result)[0] == "own got "
    assert BLOCKED in outputs(result)[2]


def test_a_halt_ends_the_run_with_the_transcript_in_the_exception() -> None:
    with pytest.raises(RunHalted) as halted:
        run(guarded_agent(Guardrail(), agent_of(calls(20))))
    error = halted.value
    assert error.run_data.last_agent.name == "researcher"
    assert len(outputs(error)) == len(error.run_data.raw_responses)


def test_a_halt_leaves_a_whole_conversation_in_the_memory_of_the_sdk() -> None:
    memory = SQLiteSession("thread")
    with pytest.raises(RunHalted):
        run(guarded_agent(Guardrail(), agent_of(calls(20))), session=memory)
    items = asyncio.run(memory.get_items())
    memory.close()
    asked = [item["call_id"] for item in items if item.get("type") == "function_call"]
    assert asked == [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert len(asked) > 3


def test_a_halted_call_is_no_final_output() -> None:
    document = {"version": 1, "extends": "balanced", "budgets": {"calls": 1}}
    guard = Guardrail(document)
    agent = guarded_agent(guard, agent_of(calls(2), tool_use_behavior="stop_on_first_tool"))
    with guard.session("two runs"):
        assert run(agent).final_output == "nothing about cats"
        with pytest.raises(RunHalted):
            run(agent)


def test_a_new_run_in_the_same_session_begins_with_the_persons_turn() -> None:
    guard = Guardrail(STRICT)
    agent = guarded_agent(guard, agent_of([*calls(2), [assistant_message("no")], *calls(2)]))
    with guard.session("thread"):
        assert outputs(run(agent)) == outputs(run(agent)) == ["nothing about cats"] * 2


def test_an_approval_goes_on_in_the_same_session() -> None:
    @function_tool(needs_approval=True)
    def pay(query: str) -> str:
        """Pay."""
        return "paid"

    agent = guarded_agent(Guardrail(STRICT), agent_of(calls(3, "pay"), pay))
    result = run(agent)
    while result.interruptions:
        state: RunState[Any] = result.to_state()
        state.approve(result.interruptions[0])
        result = run(agent, state)
    assert ["paid" in each for each in outputs(result)] == [True, True, False]


def test_an_approval_policy_of_the_tool_still_sees_the_arguments() -> None:
    asked: list[Any] = []

    async def needs_approval(_: Any, arguments: dict[str, Any], call_id: str) -> bool:
        asked.append((arguments, call_id))
        return False

    @function_tool(needs_approval=needs_approval)
    def pay(query: str) -> str:
        """Pay."""
        return "paid"

    assert outputs(run(guarded_agent(Guardrail(), agent_of(calls(1, "pay"), pay)))) == ["paid"]
    assert [arguments for arguments, _ in asked] == [{"query": "cats"}]


def test_a_wrapped_tool_ends_the_run_where_the_halt_is() -> None:
    guard = Guardrail()
    [wrapped] = guard.wrap([search])
    with pytest.raises(RunHalted):
        run(agent_of(calls(20), wrapped))
    assert wrap_tool(guard, wrapped) is wrapped
    assert outputs(run(agent_of(calls(20)))) == ["nothing about cats"] * 20


def test_a_decorator_of_the_same_guard_counts_no_call_twice() -> None:
    guard = Guardrail()
    agent = guarded_agent(guard, agent_of(calls(2), function_tool(guard.verify(search.__wrapped__))))
    with guard.session("one") as session:
        assert outputs(run(agent)) == ["nothing about cats"] * 2
        assert session.state()["steps"] == 2


def test_arguments_that_are_no_json_do_not_reach_the_tool() -> None:
    result = run(guarded_agent(Guardrail(), agent_of([*calls(1, arguments='{"query": "ca'), *calls(1)])))
    assert BLOCKED in outputs(result)[0]
    assert outputs(result)[1] == "nothing about cats"


def test_an_unknown_tool_is_the_runners_own_business() -> None:
    with pytest.raises(ModelBehaviorError):
        run(guarded_agent(Guardrail(), agent_of(calls(1, "serach"))))


def test_tokens_are_charged_with_the_price_of_the_agents_model() -> None:
    pytest.importorskip("genai_prices")
    document = {"version": 1, "extends": "balanced", "budgets": {"usd": 0.5}}
    guard = Guardrail(document)
    usage = Usage(requests=1, input_tokens=100_000, output_tokens=10_000, total_tokens=110_000)
    model = ScriptedModel([ModelStep(output=turn, usage=usage) for turn in calls(9)])
    model.model = "gpt-4o"  # 0.35 dollars an answer
    with pytest.raises(RunHalted) as halted:
        run(guarded_agent(guard, Agent(name="researcher", model=model, tools=[search])))
    assert halted.value.verdict.reason == "budget.usd"


def test_an_sdk_that_is_too_old_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_installed", lambda _: "0.0.1")
    with pytest.raises(AdapterError, match=r"openai-agents is 0\.0\.1; .* or newer is needed"):
        versions.require("openai-agents")


def test_a_session_is_let_go_of_though_its_tool_raised() -> None:
    guard = Guardrail(max_sessions=1)
    sessions: list[weakref.ref[Any]] = []

    @function_tool
    def fail(query: str) -> str:
        sessions.append(weakref.ref(guard.here()))
        raise OSError("no index")

    for _ in range(2):
        run(guarded_agent(guard, agent_of(calls(1, "fail"), fail)))
    gc.collect()
    assert sessions[0]() is None
    assert sessions[1]() is not None


def test_calls_that_the_guard_cannot_judge_do_not_get_each_others_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guardrail, "judge", broken)
    turn = [function_call("tell", {"query": each}, call_id=each) for each in ("cats", "dogs")]
    guard = Guardrail({"version": 1, "on_error": "allow"})
    assert outputs(run(guarded_agent(guard, agent_of([turn], tell)))) == ["about cats", "about dogs"]


def test_identical_calls_do_not_wait_for_ever_where_a_result_cannot_be_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(AgentsGate, "outcome_of", broken)
    turn = [function_call("tell", {"query": "cats"}, call_id=each) for each in ("first", "second")]
    agent = guarded_agent(Guardrail(), agent_of([turn], tell))
    result = asyncio.run(asyncio.wait_for(Runner.run(agent, "find cats", run_config=UNTRACED), 20))
    assert outputs(result) == ["about cats"] * 2


def broken(*_: Any) -> Any:
    raise RuntimeError("a bug of ours")


@function_tool
async def tell(query: str) -> str:
    """Tell."""
    await asyncio.sleep(0)  # so that both calls are under way
    return f"about {query}"


def test_an_sdk_without_the_hook_that_tools_pass_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(AgentBase, "get_all_tools")
    with pytest.raises(AdapterError, match="Agent of agents has no get_all_tools"):
        importlib.reload(agent_module)
