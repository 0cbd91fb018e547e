"""The CrewAI adapter, beyond the contract: failures, caches, other hooks, tasks and their budgets, wrapped tools."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest
from crewai_model import agent_of, crew_of, kickoff, scripted

# Here, because CrewAI reads the settings of `crewai_model` when it is imported.
# isort: split
from crewai import Agent, Crew, Task
from crewai.flow import Flow, listen, start
from crewai.hooks import HookAborted, InterceptionPoint
from crewai.hooks.dispatch import scoped_hooks
from crewai.tools import BaseTool, tool
from crewai.tools.tool_failure import ToolFailure, ToolFailurePolicy

from microloop import AdapterError, BlockedCall, Guardrail, RunHalted, Verdict
from microloop.adapters._gate import versions
from microloop.adapters.crewai import GuardrailHooks, wrap_tool

pytestmark = [pytest.mark.adapter, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
CATS = ("search", {"query": "cats"})
PAGE = ("read", {"query": "cats"})
STRICT = "strict_loop_detection"  # it refuses the third identical call
NO_CATS = {
    "version": 1,
    "extends": "balanced",
    "tools": [{"match": "*", "rules": [{"id": "no-cats", "path": "query", "deny": {"equals": "cats"}}]}],
}


class Desk:
    """Two tools, and what they were asked."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def tools(self, *, raises: bool = False, **options: Any) -> list[Any]:
        @tool(**options)
        def search(query: str) -> str:
            """Search."""
            self.ran.append(query)
            if raises:
                raise OSError(f"no index for {query}")
            return f"nothing about {query}"

        @tool
        def read(query: str) -> str:
            """Read."""
            self.ran.append(query)
            return f"an empty page on {query}"

        return [search, read]


def run(guard: Guardrail, turns: Any, tools: Any, *, native: bool = True, **options: Any) -> Any:
    agent = agent_of(scripted(turns, native=native), tools, **options)
    with GuardrailHooks(guard).scope():
        return kickoff(crew_of(agent), "sync")


def told(model: Any) -> list[str]:
    """What the tools said to the model."""
    return [message["content"] for message in model.heard[-1] if message["role"] == "tool"]


def test_a_halted_run_raises_what_is_both_the_guards_and_crewais() -> None:
    with pytest.raises(RunHalted) as raised:
        run(Guardrail(STRICT), [[CATS]], Desk().tools())
    assert isinstance(raised.value, HookAborted)
    assert raised.value.verdict.reason == "loop.repeat"
    assert raised.value.reason == raised.value.verdict.feedback
    assert pickle.loads(pickle.dumps(raised.value)).verdict.reason == "loop.repeat"


def test_a_model_that_calls_by_text_is_not_asked_again_after_a_halt() -> None:
    desk, model = Desk(), scripted(lambda asked: [[CATS, PAGE][asked % 2]], native=False)
    with GuardrailHooks(Guardrail()).scope(), pytest.raises(RunHalted):
        kickoff(crew_of(agent_of(model, desk.tools())), "sync")
    assert model.asked == 15
    assert len(desk.ran) == 8


def test_a_call_whose_arguments_are_no_json_is_a_loop_too() -> None:
    verdicts: list[Verdict] = []
    model = scripted([[("search", '{"query": ')]])
    with GuardrailHooks(Guardrail(), on_verdict=verdicts.append).scope(), pytest.raises(RunHalted):
        kickoff(crew_of(agent_of(model, Desk().tools())), "sync")
    assert {each.reason for each in verdicts} == {"args.malformed", "loop.error"}


def test_a_refused_call_stands_in_the_failures_of_its_task() -> None:
    result = run(Guardrail(NO_CATS), [[CATS], "done"], Desk().tools())
    (record,) = result.tasks_output[0].tool_failures
    assert (record.tool_name, record.failure.code) == ("search", "rule.deny")
    assert record.failure.details["microloop"]["action"] == "block"


def test_a_crew_that_ends_at_a_failed_tool_ends_at_a_refused_call() -> None:
    with pytest.raises(HookAborted, match="microloop"):
        run(Guardrail(NO_CATS), [[CATS], "done"], Desk().tools(), tool_failure_policy=ToolFailurePolicy.RAISE)


def test_results_that_come_from_crewais_cache_are_a_loop_too() -> None:
    desk, model = Desk(), scripted([[CATS]])
    agent = agent_of(model, desk.tools())
    agent.cache = True
    crew = Crew(agents=[agent], tasks=[Task(description="find", expected_output="it", agent=agent)], cache=True)
    with GuardrailHooks(Guardrail()).scope(), pytest.raises(RunHalted):
        crew.kickoff()
    assert desk.ran == ["cats"]
    assert model.asked == 8


def test_values_reach_the_model_as_they_would_without_a_guard() -> None:
    @tool
    def search(query: str) -> dict[str, int]:
        """Search."""
        return {query: 3}

    model = scripted([[CATS], "done"])
    with GuardrailHooks(Guardrail()).scope():
        kickoff(crew_of(agent_of(model, [search])), "sync")
    assert told(model) == ["{'cats': 3}"]


def test_advice_does_not_stand_in_an_answer_for_a_person() -> None:
    guard, verdicts = Guardrail(), list[Verdict]()
    with GuardrailHooks(guard, on_verdict=verdicts.append).scope(), guard.session("thread-7") as session:
        for _ in range(2):
            session.record(session.check(*CATS), "nothing about cats")
        agent = agent_of(scripted([[CATS]]), Desk().tools(result_as_answer=True))
        assert agent.kickoff("find").raw == "nothing about cats"
    assert [str(each.action) for each in verdicts] == ["warn"]


def test_a_call_that_another_hook_refuses_is_not_counted() -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 1}})

    def refuse(context: Any) -> bool | None:
        return False if context.tool_name == "search" else None

    desk = Desk()
    with GuardrailHooks(guard).scope(), scoped_hooks(_added(InterceptionPoint.PRE_TOOL_CALL, refuse)):
        kickoff(crew_of(agent_of(scripted([[CATS], [PAGE], "done"]), desk.tools())), "sync")
    assert desk.ran == ["cats"]


def _added(point: InterceptionPoint, hook: Any) -> dict[InterceptionPoint, list[Any]]:
    from crewai.hooks.dispatch import get_scoped_hooks

    return {each: [*get_scoped_hooks(each), *([hook] if each is point else [])] for each in InterceptionPoint}


@pytest.mark.parametrize("given", ["ask", "on_verdict"])
def test_what_the_host_raises_ends_the_run_and_not_the_guard(given: str) -> None:
    def broken(_: Verdict) -> bool:
        raise LookupError("nobody is there")

    rules = [{"id": "consent", "path": "query", "ask": {"regex": "cats"}}]
    policy = {"version": 1, "extends": "balanced", "tools": [{"match": "search", "rules": rules}]}
    desk = Desk()
    hooks = GuardrailHooks(
        Guardrail(policy, ask=broken if given == "ask" else None), on_verdict=broken if given == "on_verdict" else None
    )
    with hooks.scope(), pytest.raises(HookAborted, match="LookupError: nobody is there") as raised:
        kickoff(crew_of(agent_of(scripted([[CATS], "done"]), desk.tools())), "sync")
    assert isinstance(raised.value.__cause__, LookupError)
    assert desk.ran == []


def test_a_scope_hides_no_hook_around_it_and_counts_no_call_twice() -> None:
    seen: list[str] = []
    verdicts: list[Verdict] = []
    hooks = GuardrailHooks(Guardrail(), on_verdict=verdicts.append)
    around = {InterceptionPoint.POST_TOOL_CALL: [lambda context: seen.append(context.tool_name)]}
    hooks.attach()
    try:
        with scoped_hooks(around), hooks.scope(), GuardrailHooks(hooks._guard).scope():
            kickoff(crew_of(agent_of(scripted([[CATS], "done"]), Desk().tools())), "sync")
    finally:
        hooks.detach()
    assert seen == ["search"]
    assert len(verdicts) == 1


def test_a_run_outside_of_the_scope_is_not_guarded() -> None:
    guard, desk = Guardrail(NO_CATS), Desk()
    agent = agent_of(scripted([[CATS], "done"]), desk.tools())
    with GuardrailHooks(guard).scope():
        pass
    kickoff(crew_of(agent), "sync")
    assert desk.ran == ["cats"]


def test_agents_that_were_used_before_the_hooks_were_attached_are_halted_too() -> None:
    desk, model = Desk(), scripted(lambda asked: "done" if asked == 0 else [CATS])
    crew = crew_of(agent_of(model, desk.tools()))
    crew.kickoff()
    hooks = GuardrailHooks(Guardrail())
    hooks.attach()
    try:
        with pytest.raises(RunHalted):
            crew.kickoff()
    finally:
        hooks.detach()
    assert desk.ran == ["cats"] * 4
    assert model.asked == 9


def test_each_task_has_counters_of_its_own_and_all_have_one_budget() -> None:
    desk = Desk()
    model = scripted(lambda asked: "done" if asked % 3 == 2 else [CATS])
    verdicts: list[Verdict] = []
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 5}})
    with GuardrailHooks(guard, on_verdict=verdicts.append).scope(), pytest.raises(RunHalted):
        kickoff(crew_of(agent_of(model, desk.tools()), tasks=3), "sync")
    assert [str(each.action) for each in verdicts] == ["allow"] * 5 + ["halt"]
    assert verdicts[-1].reason == "budget.calls"
    assert len({each.session.id for each in verdicts}) == 3


def test_an_agent_that_works_for_another_one_is_charged_to_the_same_run() -> None:
    desk = Desk()
    helper = agent_of(scripted([[CATS], "helped"]), desk.tools())
    helper.role = "helper"
    work = {"task": "look", "context": "here", "coworker": "helper"}
    boss = Agent(
        role="boss",
        goal="g",
        backstory="b",
        llm=scripted([[("delegate_work_to_coworker", work)], "done"]),
        allow_delegation=True,
        cache=False,
    )
    crew = Crew(agents=[boss, helper], tasks=[Task(description="d", expected_output="e", agent=boss)], cache=False)
    verdicts: list[Verdict] = []
    with GuardrailHooks(Guardrail(), on_verdict=verdicts.append).scope():
        crew.kickoff()
    assert [each.tool for each in verdicts] == ["delegate_work_to_coworker", "search"]
    assert verdicts[1].session.parent is verdicts[0].session
    assert desk.ran == ["cats"]


def test_a_second_kickoff_in_a_session_of_ones_own_begins_with_the_person() -> None:
    guard, desk = Guardrail(STRICT), Desk()
    crew = crew_of(agent_of(scripted(lambda asked: "done" if asked % 3 == 2 else [CATS]), desk.tools()))
    with GuardrailHooks(guard).scope(), guard.session("thread-7"):
        for _ in range(4):
            crew.kickoff()
    assert desk.ran == ["cats"] * 8


def test_an_agent_without_a_crew_is_guarded() -> None:
    desk = Desk()
    with GuardrailHooks(Guardrail(NO_CATS)).scope():
        result = agent_of(scripted([[CATS], "done"]), desk.tools()).kickoff("find")
    assert result.raw == "done"
    assert desk.ran == []


def test_a_crew_inside_a_flow_is_guarded_in_the_session_of_the_flow() -> None:
    desk, verdicts = Desk(), list[Verdict]()

    class Search(Flow[Any]):
        @start()
        async def first(self) -> str:
            crew = crew_of(agent_of(scripted([[CATS], "done"]), desk.tools()))
            return (await crew.kickoff_async()).raw

        @listen(first)
        def second(self, _: str) -> str:
            return crew_of(agent_of(scripted([[CATS], "done"]), desk.tools())).kickoff().raw

    with GuardrailHooks(Guardrail(), on_verdict=verdicts.append).scope():
        assert Search().kickoff() == "done"
    assert len({each.session.id for each in verdicts}) == 2
    assert len({each.session.parent.id for each in verdicts}) == 1


def test_a_decorated_function_inside_the_hooks_is_counted_once() -> None:
    verdicts: list[Verdict] = []
    guard = Guardrail()

    @tool
    @guard.verify
    def search(query: str) -> str:
        """Search."""
        return query

    model = scripted([[CATS], "done"])
    with GuardrailHooks(guard, on_verdict=verdicts.append).scope():
        kickoff(crew_of(agent_of(model, [search])), "sync")
    assert verdicts[0].session.state()["steps"] == 1
    assert told(model) == ["cats"]


def test_only_what_a_run_itself_has_used_is_charged_to_it() -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"tokens": 500}})
    model = scripted(lambda asked: "done" if asked % 3 == 2 else [CATS], usage=(80, 20))
    crew = crew_of(agent_of(model, Desk().tools()))
    with GuardrailHooks(guard).scope():
        for _ in range(4):
            assert crew.kickoff().raw == "done"


def test_a_tool_that_raises_runs_once_for_a_model_that_calls_by_text_if_it_is_wrapped() -> None:
    desk, guard = Desk(), Guardrail()
    model = scripted([[CATS], "done"], native=False)
    with GuardrailHooks(guard).scope():
        result = kickoff(crew_of(agent_of(model, guard.wrap(desk.tools(raises=True)))), "sync")
    assert desk.ran == ["cats"]
    assert result.tasks_output[0].tool_failures[0].failure.code == "OSError"
    assert "no index for cats" in str(model.heard[-1])


class Search(BaseTool):
    name: str = "Search the shelf"
    description: str = "Search."

    def _run(self, query: str, limit: int = 3) -> str:
        return f"{query}, {limit}"


def test_a_wrapped_tool_is_the_tool_in_everything_that_crewai_looks_at() -> None:
    original = Search(max_usage_count=5)
    wrapped = wrap_tool(Guardrail(), original)
    assert isinstance(wrapped, Search)
    assert wrapped.model_dump(exclude={"args_schema"}) == original.model_dump(exclude={"args_schema"})
    assert wrapped.args_schema is original.args_schema
    assert wrapped.run(query="cats") == wrapped.run("cats", 3) == "cats, 3"
    assert wrap_tool(wrapped.microloop_gate.guard, wrapped) is wrapped


def test_a_wrapped_tool_answers_a_refused_call_as_tools_report_failures() -> None:
    guard = Guardrail(NO_CATS)
    (search, _) = guard.wrap(Desk().tools())
    refused = search.run(query="cats")
    assert isinstance(refused, ToolFailure)
    assert refused.code == "rule.deny"
    assert search.run(query="dogs") == "nothing about dogs"


def test_a_wrapped_tool_raises_for_a_guard_that_raises() -> None:
    with pytest.raises(BlockedCall, match="microloop"):
        wrap_tool(Guardrail(NO_CATS, on_block="raise"), Search()).run(query="cats")


def test_a_wrapped_tool_of_a_coroutine_function_runs_in_all_ways() -> None:
    @tool
    async def search(query: str) -> str:
        """Search."""
        return f"nothing about {query}"

    wrapped = wrap_tool(Guardrail(), search)
    assert wrapped.run(query="a") == "nothing about a"
    assert asyncio.run(wrapped.arun(query="b")) == "nothing about b"
    assert wrapped.to_structured_tool().invoke({"query": "c"}) == "nothing about c"


def test_a_crewai_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(versions.FLOORS, "crewai", "99.0")
    with pytest.raises(AdapterError, match=r"crewai is .*; 99.0 or newer is needed"):
        versions.require("crewai")
