"""The smolagents adapter, beyond the contract: code, conversations, managed agents, state, wrapped tools."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import smolagents
from smolagents import MultiStepAgent, tool
from smolagents.memory import ActionStep
from smolagents_model import CodeAgent, Scripted, ToolCallingAgent, agent_of

from microloop import AdapterError, BlockedCall, Guardrail, RunHalted, Verdict
from microloop.adapters._gate import versions
from microloop.adapters._smolagents import agents
from microloop.adapters._smolagents.schemas import schema_of
from microloop.adapters.smolagents import guard_agent, unguard_agent, wrap_tool

pytestmark = pytest.mark.adapter
CATS = ("search", {"query": "cats"})
STRICT = "strict_loop_detection"  # it refuses the third identical call
NO_CATS = {
    "version": 1,
    "extends": "balanced",
    "tools": [{"match": "*", "rules": [{"id": "no-cats", "path": "query", "deny": {"equals": "cats"}}]}],
}
BOTH = pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])


def search(query: str) -> str:
    """Search.

    Args:
        query: What to look for.
    """
    return f"nothing about {query}"


def count(many: int, note: str | None = None) -> dict[str, Any]:
    """Count.

    Args:
        many: How many.
        note: Why.
    """
    return {"many": many, "note": note}


def steps(agent: Any) -> list[ActionStep]:
    return [step for step in agent.memory.steps if isinstance(step, ActionStep)]


def guarded(guard: Guardrail, turns: Any, *functions: Any, kind: type = ToolCallingAgent, **options: Any) -> Any:
    return guard_agent(guard, agent_of(kind, Scripted(turns), functions or [search]), **options)


@BOTH
def test_a_halted_run_ends_with_every_step_in_memory(kind: type) -> None:
    agent = guarded(Guardrail(), [[CATS]], kind=kind)
    with pytest.raises(RunHalted):
        agent.run("find")
    last = steps(agent)[-1]
    assert len(steps(agent)) == agent.model.asked == 8
    assert "this run is halted" in (last.observations or str(last.error))


@BOTH
def test_a_conversation_that_goes_on_begins_with_the_person(kind: type) -> None:
    verdicts: list[Verdict] = []
    agent = guarded(Guardrail(STRICT), [[CATS], [CATS], "done"], kind=kind, on_verdict=verdicts.append)
    for reset in (True, False, False, True):
        agent.model.asked = 0
        assert agent.run("find", reset=reset) == "done"
    assert {str(each.action) for each in verdicts} <= {"allow", "warn"}
    assert len({each.session.id for each in verdicts}) == 2


@BOTH
def test_a_session_around_the_run_is_the_session_of_the_run(kind: type) -> None:
    guard = Guardrail()
    with guard.session("thread-7") as session:
        guarded(guard, [[CATS], "done"], kind=kind).run("find")
        assert session.state()["steps"] == 1


def test_a_refused_call_in_code_stops_the_code() -> None:
    agent = guarded(Guardrail(NO_CATS), [[CATS, ("search", {"query": "dogs"})], "done"], kind=CodeAgent)
    assert agent.run("find") == "done"
    assert "BlockedCall: [microloop" in str(steps(agent)[0].error)
    assert steps(agent)[0].observations is None


def test_code_that_catches_the_refusal_does_not_get_past_the_halt() -> None:
    class Stubborn(Scripted):
        def generate(self, *args: Any, **kwargs: Any) -> Any:
            message = super().generate(*args, **kwargs)
            message.content = "<code>\ntry:\n    search(query='cats')\nexcept Exception:\n    pass\n</code>"
            return message

    agent = guard_agent(Guardrail(), agent_of(CodeAgent, Stubborn([[CATS]]), [search]))
    with pytest.raises(RunHalted):
        agent.run("find")
    assert agent.model.asked == 8


def test_a_call_in_code_may_stand_there_twice() -> None:
    verdicts: list[Verdict] = []
    agent = guarded(Guardrail(), [[CATS, CATS], "done"], kind=CodeAgent, on_verdict=verdicts.append)
    agent.run("find")
    assert [str(each.action) for each in verdicts] == ["allow"] * 2


@BOTH
def test_a_managed_agent_has_a_session_of_its_own_and_the_budget_of_its_manager(kind: type) -> None:
    verdicts: list[Verdict] = []
    helper = agent_of(
        ToolCallingAgent, Scripted([[CATS], [CATS], "helped"]), [search], name="helper", description="It searches."
    )
    turns = [[("helper", {"task": "find cats"})]]
    boss = agent_of(kind, Scripted(turns), [count], managed_agents=[helper])
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"calls": 2}})
    guard_agent(guard, boss, on_verdict=verdicts.append)
    with pytest.raises(RunHalted):
        boss.run("go")
    assert [each.tool for each in verdicts] == ["helper", "search", "search", "helper"]
    assert [str(each.action) for each in verdicts] == ["allow", "allow", "halt", "halt"]
    assert verdicts[1].session.parent is verdicts[0].session
    assert (boss.model.asked, helper.model.asked) == (2, 2)


def test_values_and_variables_of_the_agent_pass_untouched() -> None:
    seen: list[Any] = []

    def keep(thing: Any) -> Any:
        """Keep.

        Args:
            thing: What to keep.
        """
        seen.append(thing)
        return thing

    given = object()
    agent = guarded(Guardrail(), [[("keep", {"thing": "it"})], "done"], keep)
    agent.run("go", additional_args={"it": given})
    assert seen == [given]


def test_an_answer_that_is_no_call_is_heard() -> None:
    class Mute(Scripted):
        def generate(self, *args: Any, **kwargs: Any) -> Any:
            message = super().generate(*args, **kwargs)
            message.content, message.tool_calls = "let me think", None
            return message

    verdicts: list[Verdict] = []
    agent = guard_agent(Guardrail(), agent_of(ToolCallingAgent, Mute(["x"]), [search]), on_verdict=verdicts.append)
    with pytest.raises(RunHalted):
        agent.run("go")
    assert {each.reason for each in verdicts} == {"loop.text"}


def test_what_the_model_uses_is_charged_before_its_calls_run() -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"tokens": 250}})
    agent = guard_agent(guard, agent_of(ToolCallingAgent, Scripted([[CATS]], usage=(80, 20)), [search]))
    with pytest.raises(RunHalted) as raised:
        agent.run("go")
    assert raised.value.verdict.reason == "budget.tokens"


def test_the_schema_is_that_of_the_inputs_where_texts_may_name_variables() -> None:
    schema = schema_of(tool(count))
    assert schema["required"] == ["many"]
    assert schema["properties"]["many"] == {"type": ["integer", "string"]}
    assert schema["properties"]["note"] == {"type": ["string", "null"]}


@BOTH
def test_a_guarded_agent_is_the_agent_in_everything_that_smolagents_looks_at(kind: type) -> None:
    agent = agent_of(kind, Scripted(["done"]), [search])
    tools = dict(agent.tools)
    guard_agent(Guardrail(), agent)
    assert isinstance(agent, kind)
    assert type(agent).__name__ == kind.__name__
    unguard_agent(agent)
    assert type(agent) is kind
    assert agent.tools == tools
    assert not hasattr(agent, "microloop")


def test_an_agent_is_guarded_once() -> None:
    agent = guarded(Guardrail(), ["done"])
    with pytest.raises(AdapterError, match="guarded already; unguard_agent"):
        guard_agent(Guardrail(), agent)


def test_code_that_runs_elsewhere_cannot_be_guarded() -> None:
    agent = agent_of(CodeAgent, Scripted(["done"]), [search])
    agent.python_executor = object()
    with pytest.raises(AdapterError, match="runs in a object, where no guard sees its calls"):
        guard_agent(Guardrail(), agent)
    assert type(agent) is CodeAgent


def test_an_agent_of_another_kind_is_named() -> None:
    class Own(MultiStepAgent):
        def initialize_system_prompt(self) -> str:
            return ""

    with pytest.raises(AdapterError, match="Own is neither a ToolCallingAgent nor a CodeAgent"):
        guard_agent(Guardrail(), agent_of(Own, Scripted(["done"]), [search]))


def test_a_wrapped_tool_takes_its_arguments_in_every_form_and_counts_once_inside_a_guarded_agent() -> None:
    verdicts: list[Verdict] = []
    guard = Guardrail()
    (wrapped,) = guard.wrap([tool(search)])
    given = [wrapped("a"), wrapped({"query": "b"}), wrapped(query="c")]
    assert given == ["nothing about a", "nothing about b", "nothing about c"]
    agent = agent_of(ToolCallingAgent, Scripted([[CATS], "done"]), [wrapped])
    guard_agent(guard, agent, on_verdict=verdicts.append).run("go")
    assert len(verdicts) == 1
    assert verdicts[0].session.state()["steps"] == 1


def test_a_wrapped_tool_answers_with_the_feedback_or_raises_it() -> None:
    assert "microloop" in wrap_tool(Guardrail(NO_CATS), tool(search))(query="cats")
    with pytest.raises(BlockedCall, match="microloop"):
        wrap_tool(Guardrail(NO_CATS, on_block="raise"), tool(search))("cats")


def test_a_smolagents_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(versions.FLOORS, "smolagents", "99.0")
    with pytest.raises(AdapterError, match=r"smolagents is .*; 99.0 or newer is needed"):
        versions.require("smolagents")


@BOTH
def test_plans_and_the_answer_when_no_steps_are_left_are_charged_too(kind: type) -> None:
    guard = Guardrail()
    agent = agent_of(kind, Scripted([[CATS]], usage=(80, 20)), [search], planning_interval=1)
    with guard.session("run-1") as session:
        guard_agent(guard, agent).run("find cats", max_steps=1)
    assert session.state()["tokens"] == 300


@BOTH
def test_a_plan_that_spends_the_budget_ends_the_run_before_the_model_is_asked_again(kind: type) -> None:
    model = Scripted([[CATS]], usage=(80, 20))
    guard = Guardrail({"version": 1, "budgets": {"tokens": 100}})
    with pytest.raises(RunHalted):
        guard_agent(guard, agent_of(kind, model, [search], planning_interval=1)).run("find cats")
    assert model.asked == 1


@pytest.mark.parametrize(
    ("owner", "hook"), [("MultiStepAgent", "_step_stream"), ("ToolCallingAgent", "execute_tool_call")]
)
def test_a_smolagents_that_has_lost_a_hook_is_refused(monkeypatch: pytest.MonkeyPatch, owner: str, hook: str) -> None:
    monkeypatch.delattr(getattr(smolagents, owner), hook)
    with pytest.raises(AdapterError, match=f"{owner} of smolagents has no {hook}"):
        importlib.reload(agents)
