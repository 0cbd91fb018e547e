"""AutoGen: what the contract of all adapters cannot say."""

from __future__ import annotations

import asyncio
import json
import logging
from contextvars import ContextVar
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.tools import AgentTool
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import CreateResult, RequestUsage
from autogen_core.tools import FunctionTool, StaticWorkbench
from autogen_ext.models.replay import ReplayChatCompletionClient
from pydantic import BaseModel

from microloop import AdapterError, Guardrail, RunHalted
from microloop.adapters._gate import versions
from microloop.adapters.autogen import HALTED, guarded_assistant, guarded_client, guarded_workbench

pytestmark = pytest.mark.adapter
INFO = {"vision": False, "function_calling": True, "json_output": True, "family": "unknown", "structured_output": True}
STRICT = "strict_loop_detection"


def search(query: str) -> str:
    """Search the web."""
    return "nothing found"


class Page(BaseModel):
    title: str


async def fetch(query: Page, cancellation_token: CancellationToken) -> Page:
    """Fetch a page."""
    assert isinstance(cancellation_token, CancellationToken)
    return query


def calls(*names: str, arguments: Any = None, cached: bool = False) -> CreateResult:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {"query": "cats"})
    made = [FunctionCall(id=f"c{place}", name=name, arguments=text) for place, name in enumerate(names)]
    usage = RequestUsage(prompt_tokens=10, completion_tokens=5)
    return CreateResult(finish_reason="function_calls", content=made, usage=usage, cached=cached)


def model(*turns: Any) -> ReplayChatCompletionClient:
    return ReplayChatCompletionClient(list(turns), model_info=INFO)


def assistant(guard: Guardrail, *turns: Any, name: str = "agent", **options: Any) -> AssistantAgent:
    given = {"tools": [search], "max_tool_iterations": 20} | options
    return guarded_assistant(guard, name, model(*turns), **given)


def run(agent: Any, **options: Any) -> TaskResult:
    return asyncio.run(asyncio.wait_for(agent.run(task="Find cats.", **options), 20))


def told(result: TaskResult) -> list[str]:
    events = [each for each in result.messages if isinstance(each, ToolCallExecutionEvent)]
    return [answer.content for event in events for answer in event.content]


def test_a_halt_raises_and_the_agent_can_be_asked_again() -> None:
    agent = assistant(Guardrail(STRICT), *[calls("search")] * 5, "Sorry.")
    with pytest.raises(RunHalted) as halted:
        run(agent)
    assert halted.value.verdict.reason == "loop.repeat"
    assert run(agent).messages[-1].content == "Sorry."


def test_a_halt_can_end_the_run_with_a_last_message() -> None:
    result = run(assistant(Guardrail(STRICT), *[calls("search")] * 6, on_halt="end"))
    assert result.messages[-1].content.startswith(HALTED)


def test_where_the_answer_has_a_structure_a_halt_raises_in_any_case() -> None:
    class Answer(BaseModel):
        text: str

    agent = assistant(Guardrail(STRICT), *[calls("search")] * 6, on_halt="end", output_content_type=Answer)
    with pytest.raises(RunHalted):
        run(agent)


def test_a_team_ends_by_a_condition_on_the_last_message() -> None:
    agent = assistant(Guardrail(STRICT), *[calls("search")] * 6, on_halt="end")
    team = RoundRobinGroupChat([agent], termination_condition=TextMentionTermination(HALTED))
    assert "mentioned" in run(team).stop_reason


def test_in_a_team_each_agent_counts_for_itself_and_all_share_the_budget() -> None:
    guard = Guardrail({"version": 1, "extends": STRICT, "budgets": {"calls": 5}})
    agents = [
        assistant(guard, *[calls("search")] * 3, name=name, max_tool_iterations=1) for name in ("one", "two", "three")
    ]
    team = RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(7))
    answers = told(run(team))
    assert answers[:5] == ["nothing found"] * 5
    assert "was refused" in answers[5]


def test_a_sub_agent_counts_for_itself_and_its_events_are_passed_on() -> None:
    guard = Guardrail(STRICT)
    inner = assistant(guard, *[calls("search")] * 2, "nothing", calls("search"), "still nothing", name="helper")
    asks = [calls("helper", arguments={"task": "Find cats."}), calls("helper", arguments={"task": "Find lions."})]
    outer = assistant(guard, *asks, "done", tools=[AgentTool(inner)])

    async def stream() -> list[Any]:
        return [event async for event in outer.run_stream(task="Find cats.")]

    events = asyncio.run(asyncio.wait_for(stream(), 20))
    executed = [each for each in events if isinstance(each, ToolCallExecutionEvent)]
    assert [each.content[0].content for each in executed if each.source == "helper"] == ["nothing found"] * 3
    assert events[-1].messages[-1].content == "done"


def test_runs_in_one_session_go_on_with_its_budget_and_begin_with_a_user_turn() -> None:
    guard = Guardrail(STRICT)
    with guard.session("conversation") as session:
        for _ in range(3):
            result = run(assistant(guard, *[calls("search")] * 2, "done"))
            assert told(result) == ["nothing found"] * 2
        assert session.state()["calls"] == 6


@pytest.mark.parametrize(("name", "arguments"), [("serach", {"query": "cats"}), ("search", '{"query": ')])
def test_calls_that_autogen_answers_itself_are_a_loop_too(name: str, arguments: Any) -> None:
    seen: list[Any] = []
    agent = assistant(Guardrail(STRICT), *[calls(name, arguments=arguments)] * 15, on_verdict=seen.append)
    with pytest.raises(RunHalted):
        run(agent)
    assert {each.tool for each in seen} == {name}


def test_a_workbench_that_raises_does_not_leave_the_agent_waiting() -> None:
    class Broken(StaticWorkbench):
        async def call_tool(self, *_: Any, **__: Any) -> Any:
            raise OSError("the server is gone")

    bench = Broken([FunctionTool(search, "Search.")])
    agent = assistant(Guardrail(), calls("search"), "done", tools=[], workbench=bench)
    assert told(run(agent)) == ["the server is gone"]


def test_who_is_asked_and_raises_does_not_leave_the_agent_waiting() -> None:
    def ask(_: Any) -> bool:
        raise OSError("nobody is there")

    rules = [{"id": "consent", "path": "query", "ask": {"regex": "cats"}}]
    policy = {"version": 1, "tools": [{"match": "search", "rules": rules}]}
    assert told(run(assistant(Guardrail(policy, ask=ask), calls("search"), "done"))) == ["nobody is there"]


def test_a_cancelled_call_is_answered() -> None:
    token = CancellationToken()

    async def slow(query: str) -> str:
        """Search thoroughly."""
        token.cancel()
        await asyncio.sleep(60)
        return "never"

    agent = assistant(Guardrail(), calls("slow"), "done", tools=[slow])
    assert told(run(agent, cancellation_token=token)) == ["slow was cancelled."]


def test_handoffs_pass_and_it_is_said_that_they_are_not_guarded(caplog: pytest.LogCaptureFixture) -> None:
    agent = assistant(Guardrail(), calls("transfer_to_bob", arguments={}), tools=[], handoffs=["bob"])
    with caplog.at_level(logging.WARNING, logger="microloop"):
        assert run(agent).messages[-1].target == "bob"
    assert "transfer_to_bob is a handoff" in caplog.text


def test_a_decorated_function_is_counted_once_and_finds_its_session() -> None:
    guard, place = Guardrail(STRICT), ContextVar("place", default="nowhere")

    @guard.verify
    def lookup(query: str) -> str:
        """Look it up."""
        return place.get()

    place.set("here")
    with guard.session("s") as session:
        assert told(run(assistant(guard, calls("lookup"), "done", tools=[lookup]))) == ["here"]
        assert session.state()["calls"] == 1


def test_injected_tokens_models_and_tool_objects_are_left_alone() -> None:
    tools = [FunctionTool(fetch, "Fetch.", name="get"), fetch]
    given = {"query": {"title": "Cats"}}
    agent = assistant(Guardrail(), calls("get", "fetch", arguments=given), "done", tools=tools)
    assert told(run(agent)) == ['{"title": "Cats"}'] * 2


def test_advice_stands_at_the_head_of_the_result() -> None:
    answer = told(run(assistant(Guardrail(), *[calls("search")] * 3, "done")))[2]
    assert answer.startswith("[microloop")
    assert answer.endswith("\n\nnothing found")


def test_answers_from_a_cache_cost_nothing() -> None:
    guard = Guardrail({"version": 1, "budgets": {"tokens": 100}})
    turns = [calls("search", arguments={"query": str(n)}, cached=True) for n in range(12)]
    assert len(told(run(assistant(guard, *turns, "done")))) == 12


def test_the_model_is_known_by_the_configuration_of_its_client() -> None:
    openai = pytest.importorskip("autogen_ext.models.openai")
    client = guarded_client(Guardrail(), openai.OpenAIChatCompletionClient(model="gpt-4o", api_key="none"))
    assert client._model_name == "gpt-4o"
    assert guarded_client(Guardrail(), model())._model_name is None


def test_the_halves_can_be_put_into_an_agent_by_hand() -> None:
    guard = Guardrail(STRICT)
    client, bench = guarded_client(guard, model(*[calls("search")] * 6)), guarded_workbench(guard, [search])
    with pytest.raises(RunHalted):
        run(AssistantAgent("agent", client, workbench=bench, max_tool_iterations=20))
    assert [(each.tool, each.hook) for each in guard.coverage()] == [("search", "Workbench")]


def test_a_guarded_workbench_keeps_state_but_is_not_dumped_without_its_guard() -> None:
    async def use() -> None:
        async with guarded_workbench(Guardrail(), [search]) as bench:
            await bench.load_state(await bench.save_state())
            await bench.reset()
            with pytest.raises(AdapterError, match="cannot be dumped"):
                bench.dump_component()

    asyncio.run(use())


def test_mistakes_are_said_when_the_agent_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = Guardrail()
    with pytest.raises(AdapterError, match="guarded already"):
        assistant(guard, tools=[], workbench=guarded_workbench(guard, [search]))
    with pytest.raises(ValueError, match="tools and workbench"):
        assistant(guard, workbench=StaticWorkbench([]))
    with pytest.raises(ValueError, match="on_halt"):
        assistant(guard, on_halt="stop")
    monkeypatch.setitem(versions.FLOORS, "autogen-agentchat", "99.0")
    with pytest.raises(AdapterError, match=r"autogen-agentchat is .*; 99.0 or newer is needed"):
        versions.require("autogen-agentchat")
