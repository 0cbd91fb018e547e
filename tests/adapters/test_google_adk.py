"""Google ADK: what the contract of all adapters cannot say."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from adk_model import ScriptedLlm
from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent
from google.adk.apps import App
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools import AgentTool, BaseTool, FunctionTool, ToolContext
from google.genai import types
from pydantic import BaseModel

from microloop import AdapterError, Guardrail, Verdict
from microloop.adapters.google_adk import HALTED, GuardrailPlugin, guardrail_callbacks

pytestmark = [
    pytest.mark.adapter,
    pytest.mark.filterwarnings(r"ignore:\[EXPERIMENTAL\]:UserWarning"),
    # ADK's own agent tool and its loop agent warn of themselves.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
SEARCH = ("search", {"query": "cats"})
STRICT = "strict_loop_detection"


def search(query: str) -> str:
    """Searches."""
    return f"nothing about {query}"


def app_of(guard: Guardrail, agent: Any, *plugins: BasePlugin, **options: Any) -> InMemoryRunner:
    return InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[GuardrailPlugin(guard, **options), *plugins]))


def agent_of(turns: list[Any], *tools: Any, name: str = "agent", **options: Any) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(turns=turns), tools=list(tools or [search]), **options)


def say(runner: InMemoryRunner, *parts: types.Part, session: str = "s", user: str = "user") -> list[Any]:
    """One message of the person, and all events that follow."""

    async def run() -> list[Any]:
        service, name = runner.session_service, {"app_name": runner.app_name, "user_id": user, "session_id": session}
        if await service.get_session(**name) is None:
            await service.create_session(**name)
        said = types.Content(role="user", parts=list(parts) or [types.Part(text="Find cats.")])
        return [event async for event in runner.run_async(user_id=user, session_id=session, new_message=said)]

    return asyncio.run(run())


def answers(events: list[Any]) -> list[dict[str, Any]]:
    return [each.response for event in events for each in event.get_function_responses()]


def test_a_tool_keeps_its_context_its_state_and_a_result_that_is_no_text() -> None:
    def count(word: str, tool_context: ToolContext) -> dict[str, Any]:
        """Counts."""
        tool_context.state["counted"] = word
        return {"word": word, "places": [1, 2]}

    guard = Guardrail()
    events = say(app_of(guard, agent_of([[("count", {"word": "cat"})], "done"], count)))
    assert answers(events) == [{"word": "cat", "places": [1, 2]}]
    assert any(event.actions.state_delta.get("counted") == "cat" for event in events)
    assert guard.session("app/user/s").state()["calls"] == 1


class Find(BaseTool):
    """A tool whose schema comes from elsewhere, with a pattern that takes no linear time."""

    def __init__(self) -> None:
        super().__init__(name="find", description="Finds.")

    def _get_declaration(self) -> types.FunctionDeclaration:
        schema = {"type": "object", "properties": {"word": {"type": "string", "pattern": "^(?!secret)."}}}
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        return f"no {args['word']}"


@pytest.mark.parametrize("on_error", ["block", "allow"])
def test_a_tool_whose_schema_cannot_be_used_follows_on_error_and_the_run_goes_on(
    caplog: pytest.LogCaptureFixture, on_error: str
) -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "on_error": on_error})
    turns = [[("find", {"word": "cats"})], [SEARCH], [("search", {})], "done"]
    events = say(app_of(guard, agent_of(turns, search, Find())))
    found, searched, wrong = answers(events)
    assert ("look-around" in found.get("error", "")) is (on_error == "block")
    assert (found.get("result") == "no cats") is (on_error == "allow")
    assert searched == {"result": "nothing about cats"}
    assert "query" in wrong["error"]
    assert events[-1].content.parts[0].text == "done"
    assert caplog.text.count(f"the schema of find cannot be used (on_error: {on_error})") == 1


@pytest.mark.parametrize(
    ("result", "advised"),
    [
        ("nothing", {"result": "[advice]\n\nnothing"}),
        ({"rows": []}, {"advice": "[advice]", "rows": []}),
        ([], {"advice": "[advice]", "result": []}),
    ],
)
def test_advice_stands_at_the_head_of_a_result_of_any_kind(result: Any, advised: Any) -> None:
    def look() -> Any:
        """Looks."""
        return result

    verdicts: list[Verdict] = []
    events = say(app_of(Guardrail(), agent_of([*[[("look", {})]] * 3, "done"], look), on_verdict=verdicts.append))
    text = verdicts[2].feedback

    def shown(value: Any) -> Any:
        return value.replace(text, "[advice]") if isinstance(value, str) else value

    assert {key: shown(value) for key, value in answers(events)[2].items()} == advised
    assert answers(events)[0] == (result if isinstance(result, dict) else {"result": result})


def test_an_exception_of_a_tool_reaches_whoever_runs_the_agent() -> None:
    def broken() -> None:
        """Breaks."""
        raise OSError("no such volume")

    with pytest.raises(OSError, match="no such volume"):
        say(app_of(Guardrail(), agent_of([[("broken", {})], "done"], broken)))


@pytest.mark.parametrize("failed", [{"error": "no route"}, {"status": "error", "error_message": "no route"}])
def test_an_error_that_a_tool_reports_in_its_result_is_an_error(failed: dict[str, str]) -> None:
    def call(host: str) -> dict[str, str]:
        """Calls."""
        return failed

    turns = [*[[("call", {"host": name})] for name in "abc"], "done"]
    verdicts: list[Verdict] = []
    say(app_of(Guardrail(), agent_of(turns, call), on_verdict=verdicts.append))
    assert verdicts[2].reason == "loop.error"


def test_identical_calls_of_one_turn_get_the_error_of_the_one_that_ran() -> None:
    class Soft(BasePlugin):
        async def on_tool_error_callback(self, *, error: Exception, **_: Any) -> dict[str, str]:
            return {"error": str(error)}

    def broken() -> None:
        """Breaks."""
        raise OSError("no such volume")

    events = say(app_of(Guardrail(), agent_of([[("broken", {})] * 2, "done"], broken), Soft(name="soft")))
    assert answers(events) == [{"error": "no such volume"}, {"error": "OSError: no such volume"}]
    assert events[-1].content.parts[0].text == "done"


def test_identical_calls_do_not_wait_for_one_whose_second_hook_never_comes() -> None:
    class First(BasePlugin):
        async def after_tool_callback(self, *, result: Any, **_: Any) -> dict[str, Any]:
            return {"result": result}

    async def slow(query: str) -> str:
        """Takes its time."""
        await asyncio.sleep(0)
        return "found"

    agent = agent_of([[("slow", {"query": "cats"})] * 2, "done"], slow)
    runner = InMemoryRunner(
        app=App(name="app", root_agent=agent, plugins=[First(name="first"), GuardrailPlugin(Guardrail())])
    )
    events = say(runner)
    assert [set(each) for each in answers(events)] == [{"result"}, {"result"}]
    assert "microloop" in str(answers(events)[1])


def test_what_is_checked_inside_a_tool_is_counted_once_and_in_its_session() -> None:
    guard = Guardrail()

    @guard.verify
    def look(query: str) -> str:
        """Looks."""
        return search(query)

    say(app_of(guard, agent_of([[("look", {"query": "cats"})], "done"], look)))
    assert guard.session("app/user/s").state()["calls"] == 1
    assert guard.current.get() is None


def test_a_halted_run_ends_with_an_event_that_is_an_error_and_its_conversation_goes_on() -> None:
    agent = agent_of([[SEARCH]])
    runner = app_of(Guardrail(policy=STRICT), agent)
    events = say(runner)
    assert events[-1].error_code == HALTED
    assert events[-1].custom_metadata["microloop"]["action"] == "halt"
    assert events[-1].content.parts[0].text.startswith("This run was halted.")
    asked = agent.model.asked
    agent.model.turns = ["Let us talk about dogs."]
    assert say(runner)[-1].content.parts[0].text == "Let us talk about dogs."
    assert agent.model.asked == asked + 1
    history = [part for content in agent.model.seen[-1] for part in content.parts]
    calls = [part.function_call.id for part in history if part.function_call]
    assert sorted(calls) == sorted(part.function_response.id for part in history if part.function_response)


def test_a_halt_ends_a_loop_agent_too() -> None:
    runner = app_of(Guardrail(policy=STRICT), LoopAgent(name="loop", sub_agents=[agent_of([[SEARCH]])]))
    assert say(runner)[-1].error_code == HALTED


def test_an_agent_that_is_a_tool_has_a_session_of_its_own_and_its_caller_pays() -> None:
    guard = Guardrail(policy={"version": 1, "extends": "balanced", "budgets": {"calls": 4}})
    inner = agent_of([[SEARCH], [SEARCH], "nothing"], name="inner")
    outer = agent_of([[("inner", {"request": "cats"})], [SEARCH], [SEARCH], "done"], AgentTool(inner), search)
    verdicts: list[Verdict] = []
    events = say(app_of(guard, outer, on_verdict=verdicts.append))
    sessions = [each.session.id for each in verdicts]
    assert sessions[0] == sessions[3] == "app/user/s"
    assert sessions[1] == sessions[2] != "app/user/s"
    assert verdicts[4].reason == "budget.calls"
    assert events[-1].error_code == HALTED


def test_agents_side_by_side_do_not_take_each_others_call_ids_for_their_own() -> None:
    sides = [LlmAgent(name=name, model=ScriptedLlm(turns=[[("search", {"query": name})], "done"], same_ids=True),
                      tools=[search]) for name in ("left", "right")]  # fmt: skip
    events = say(app_of(Guardrail(), ParallelAgent(name="both", sub_agents=sides)))
    assert sorted(each["result"] for each in answers(events)) == ["nothing about left", "nothing about right"]


def test_users_whose_sessions_have_the_same_id_do_not_see_each_other() -> None:
    verdicts: list[Verdict] = []
    runner = app_of(Guardrail(), agent_of([[SEARCH]] * 2 + ["done"]), on_verdict=verdicts.append)
    for user in ("ann", "bob"):
        runner.app.root_agent.model.asked = 0
        say(runner, user=user)
    assert [each.session.id for each in verdicts] == ["app/ann/s"] * 2 + ["app/bob/s"] * 2
    assert [str(each.action) for each in verdicts] == ["allow"] * 4


def test_a_new_message_of_the_person_is_a_new_turn_and_a_with_block_chooses_the_session() -> None:
    guard = Guardrail()
    agent = agent_of([[SEARCH], [SEARCH], "done"])
    runner = app_of(guard, agent)
    with guard.session("mine") as session:
        for _ in range(3):
            agent.model.asked = 0
            events = say(runner)
            assert answers(events) == [{"result": "nothing about cats"}] * 2
        assert session.state()["calls"] == 6


def test_a_tool_that_asks_for_confirmation_by_itself_is_one_call() -> None:
    verdicts: list[Verdict] = []
    tool = FunctionTool(search, require_confirmation=True)
    runner = app_of(Guardrail(), agent_of([[SEARCH], "done"], tool), on_verdict=verdicts.append)
    calls = [call for event in say(runner) for call in event.get_function_calls()]
    asked = next(call for call in calls if call.name == "adk_request_confirmation")
    response = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True})
    events = say(runner, types.Part(function_response=response))
    assert answers(events) == [{"result": "nothing about cats"}]
    assert [each.step for each in verdicts] == [1, 1]


def test_the_models_structured_answer_is_no_call_of_a_tool() -> None:
    class Answer(BaseModel):
        found: bool

    guard = Guardrail(policy={"version": 1, "extends": "balanced", "roles": {"otherwise": "deny", "grants": {}}})
    agent = agent_of([[("set_model_response", {"found": False})], "done"], output_schema=Answer)
    events = say(app_of(guard, agent))
    assert any(event.content and event.content.parts[0].text == '{"found": false}' for event in events)
    assert "set_model_response" not in {each.tool for each in guard.coverage()}


def test_money_is_charged_by_the_models_own_name() -> None:
    policy = {"version": 1, "extends": "balanced", "budgets": {"usd": 0.01}}
    guard = Guardrail(policy=policy)
    model = ScriptedLlm(
        model="gpt-4o", turns=[[("search", {"query": word})] for word in "abcdefgh"], tokens=(1000, 100)
    )
    agent = LlmAgent(name="agent", model=model, tools=[search])
    assert say(app_of(guard, agent))[-1].error_code == HALTED
    assert 1 < model.asked < 8


def test_callbacks_guard_one_agent_and_leave_the_others() -> None:
    guard = Guardrail(policy=STRICT)
    guarded = agent_of([[SEARCH]], name="guarded", **guardrail_callbacks(guard))
    assert say(InMemoryRunner(agent=guarded, app_name="app"))[-1].error_code == HALTED
    other = agent_of([*[[SEARCH]] * 6, "done"], name="other")
    assert say(InMemoryRunner(agent=other, app_name="app"))[-1].content.parts[0].text == "done"
    assert {each.hook for each in guard.coverage()} == {"guardrail_callbacks"}


def test_without_adk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from microloop.adapters._gate import versions

    monkeypatch.setitem(versions.FLOORS, "google-adk", "999.0")
    monkeypatch.delitem(sys.modules, "microloop.adapters.google_adk")
    with pytest.raises(AdapterError, match=r"google-adk is .*; 999\.0 or newer is needed: pip install --upgrade"):
        import microloop.adapters.google_adk  # noqa: F401
