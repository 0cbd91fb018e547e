"""LlamaIndex: what the contract of all adapters cannot say. It cannot read annotations that are kept as text."""

import asyncio
import sys
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from llama_index_model import ScriptedLLM
from pydantic import BaseModel

from microloop import AdapterError, Guardrail, RunHalted, Verdict
from microloop.adapters._llama_index.usage import usage_of
from microloop.adapters.llama_index import ask_in_stream, guarded_agent

pytestmark = [
    pytest.mark.adapter,
    # LlamaIndex looks at every attribute of its agents, also at those of pydantic that are deprecated.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
SEARCH = ("search", {"query": "cats"})
STRICT = "strict_loop_detection"


def search(query: str) -> str:
    """Searches."""
    return f"nothing about {query}"


def agent_of(turns: list[Any], *tools: Any, name: str = "agent", **options: Any) -> FunctionAgent:
    return FunctionAgent(
        name=name, description=name, llm=ScriptedLLM(turns=turns), tools=list(tools or [search]), **options
    )


def play(agent: Any, said: str = "Find cats.", reply: str = "", **options: Any) -> tuple[Any, list[ToolOutput]]:
    """The last output of a run, and what its tools gave back. `reply` answers every question in the stream."""

    async def run() -> Any:
        handler = agent.run(said, max_iterations=100, **options)
        told = []
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                told.append(event.tool_output)
            elif isinstance(event, InputRequiredEvent):
                handler.ctx.send_event(HumanResponseEvent(response=reply, step=getattr(event, "step", 0)))
        return await handler, told

    return asyncio.run(run())


def text(output: Any) -> str:
    return str(output.response.content)


def test_a_tool_keeps_its_context_and_the_parameters_that_the_model_does_not_see() -> None:
    async def note(ctx: Context, word: str, times: int) -> list[str]:
        """Notes."""
        await ctx.store.set("noted", word)
        return [word] * times

    verdicts: list[Verdict] = []
    guard = Guardrail()
    tool = FunctionTool.from_defaults(note, partial_params={"times": 2})
    _, [output] = play(
        guarded_agent(guard, agent_of([[("note", {"word": "cat"})], "done"], tool), on_verdict=verdicts.append)
    )
    assert output.raw_output == ["cat", "cat"]
    assert not output.is_error
    assert [str(each.action) for each in verdicts] == ["allow"]


def test_an_exception_of_a_tool_reaches_the_agent_as_it_was() -> None:
    def broken() -> None:
        """Breaks."""
        raise OSError("no such volume")

    _, [output] = play(guarded_agent(Guardrail(), agent_of([[("broken", {})], "done"], broken)))
    assert isinstance(output.exception, OSError)
    assert output.content == "no such volume"


def test_advice_is_the_first_block_and_a_refusal_is_an_error_with_the_verdict() -> None:
    _, told = play(guarded_agent(Guardrail(), agent_of([*[[SEARCH]] * 5, "done"])))
    assert [len(each.blocks) for each in told] == [1, 1, 2, 2, 1]
    assert told[2].blocks[0].text.startswith("[microloop")
    assert told[2].raw_output == "nothing about cats"
    assert told[4].is_error
    assert told[4].raw_output["microloop"]["reason"] == "loop.repeat"


def test_the_agent_itself_stays_as_it_was() -> None:
    agent = agent_of([*[[SEARCH]] * 6, "done"])
    guarded = guarded_agent(Guardrail(policy=STRICT), agent)
    assert isinstance(guarded, FunctionAgent)
    output, told = play(agent)
    assert text(output) == "done"
    assert len(told) == 6


def test_a_halted_run_says_so_and_its_conversation_goes_on() -> None:
    agent = agent_of([[SEARCH]])
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    guarded = guarded_agent(Guardrail(policy=STRICT), agent)
    output, _ = play(guarded, memory=memory)
    assert text(output).startswith("This run was halted.")
    assert output.raw["microloop"]["action"] == "halt"
    agent.llm.turns = ["Let us talk about dogs."]
    output, _ = play(guarded, "And dogs?", memory=memory)
    assert text(output) == "Let us talk about dogs."
    assert text(output) == memory.get_all()[-1].content


def test_a_halt_can_be_raised_and_the_memory_is_whole_then() -> None:
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    with pytest.raises(RunHalted) as halted:
        play(guarded_agent(Guardrail(policy=STRICT), agent_of([[SEARCH]]), on_halt="raise"), memory=memory)
    assert halted.value.verdict.reason == "loop.repeat"
    assert memory.get_all()[-1].content.startswith("This run was halted.")


@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
def test_a_react_agent_does_not_think_on_where_it_was_halted() -> None:
    model = ScriptedLLM(turns=[[SEARCH]], react=True)
    guarded = guarded_agent(Guardrail(policy=STRICT), ReActAgent(name="agent", llm=model, tools=[search]))

    async def twice() -> Any:
        ctx = Context(guarded)
        await guarded.run("Find cats.", ctx=ctx, max_iterations=100)
        model.turns = ["dogs"]
        return await guarded.run("And dogs?", ctx=ctx, max_iterations=100)

    assert text(asyncio.run(twice())) == "dogs"
    assert not any("nothing about cats" in str(each.content) for each in model.seen[-1])


def test_handoffs_of_a_workflow_are_guarded_too() -> None:
    def hand(to: str) -> list[Any]:
        return [("handoff", {"to_agent": to, "reason": "you know better"})]

    guard = Guardrail(policy=STRICT)
    agents = [agent_of([hand("two")], name="one"), agent_of([hand("one")], name="two")]
    output, _ = play(guarded_agent(guard, AgentWorkflow(agents=agents, root_agent="one")))
    assert output.raw["microloop"]["action"] == "halt"
    assert {each.tool for each in guard.coverage()} == {"handoff", "search"}


def test_an_agent_inside_a_tool_has_a_session_of_its_own_and_its_caller_pays() -> None:
    guard = Guardrail(policy={"version": 1, "extends": "balanced", "budgets": {"calls": 4}})
    verdicts: list[Verdict] = []
    inner = guarded_agent(guard, agent_of([[SEARCH], [SEARCH], "nothing"], name="inner"), on_verdict=verdicts.append)

    async def research(topic: str) -> str:
        """Researches."""
        return text(await inner.run(topic))

    turns = [[("research", {"topic": "cats"})], [SEARCH], [SEARCH], "done"]
    outer = guarded_agent(guard, agent_of(turns, research, search), on_verdict=verdicts.append)
    output, _ = play(outer, run_id="outer")
    sessions = [each.session.id for each in verdicts]
    assert sessions[0] == sessions[3] == "outer"
    assert sessions[1] == sessions[2] != "outer"
    assert verdicts[4].reason == "budget.calls"
    assert "microloop" in output.raw


def test_a_tool_that_waits_for_an_event_is_one_call() -> None:
    async def rename(ctx: Context, name: str) -> str:
        """Renames."""
        answer = await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent(prefix="Sure?"))
        return f"{name}: {answer.response}"

    verdicts: list[Verdict] = []
    agent = guarded_agent(
        Guardrail(), agent_of([[("rename", {"name": "a"})], "done"], rename), on_verdict=verdicts.append
    )
    _, [output] = play(agent, reply="sure")
    assert output.content == "a: sure"
    assert {each.step for each in verdicts} == {1}


def test_each_question_in_the_stream_gets_its_own_answer() -> None:
    asked = {"tools": [{"match": "search", "rules": [{"id": "consent", "path": "query", "ask": {"regex": "."}}]}]}
    guard = Guardrail(policy={"version": 1, "extends": "balanced", **asked}, ask=ask_in_stream)
    agent = guarded_agent(guard, agent_of([[("search", {"query": word}) for word in ("cats", "dogs")], "done"]))

    async def run() -> Any:
        handler = agent.run("Find them.")
        told = []
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                told.append(event)
            elif isinstance(event, InputRequiredEvent):
                answer = "yes" if event.step == 1 else "no"
                handler.ctx.send_event(HumanResponseEvent(response=answer, step=event.step))
        await handler
        return {each.tool_kwargs["query"]: each.tool_output.is_error for each in told}

    assert asyncio.run(run()) == {"cats": False, "dogs": True}


def test_an_unknown_tool_is_counted_although_no_tool_is_called() -> None:
    verdicts: list[Verdict] = []
    agent = agent_of([[("serach", {"query": "cats"})]])
    output, told = play(guarded_agent(Guardrail(policy=STRICT), agent, on_verdict=verdicts.append))
    assert "not found" in told[0].content
    assert output.raw["microloop"]["action"] == "halt"
    assert verdicts[-1].tool == "serach"


def test_the_run_id_of_the_caller_names_the_session_and_a_with_block_comes_first() -> None:
    guard = Guardrail()
    agent = agent_of([[SEARCH], [SEARCH], "done"])
    guarded = guarded_agent(guard, agent)
    for _ in range(3):
        agent.llm.asked = 0
        _, told = play(guarded, run_id="conversation-7")
        assert [each.content for each in told] == ["nothing about cats"] * 2
    assert guard.session("conversation-7").state()["calls"] == 6
    agent.llm.asked = 0
    with guard.session("mine") as session:
        play(guarded)
    assert session.state()["calls"] == 2


def test_a_wrapped_tool_is_guarded_wherever_it_is_called() -> None:
    class Old(BaseTool):
        @property
        def metadata(self) -> ToolMetadata:
            return ToolMetadata(name="old", description="An old tool.")

        def __call__(self, input: Any) -> ToolOutput:  # noqa: A002 - LlamaIndex's own name
            return ToolOutput(content=f"old {input}", tool_name="old", raw_input={"input": input}, raw_output=input)

    guard = Guardrail(policy=STRICT)
    new, old = guard.wrap([FunctionTool.from_defaults(search), Old()])
    with guard.session("mine"):
        assert [new(query="cats").is_error for _ in range(3)] == [False, False, True]
    with guard.session("other"):
        assert [asyncio.run(new.acall("cats")).is_error for _ in range(3)] == [False, False, True]
    assert [old("x").is_error for _ in range(3)] == [False, False, True]
    assert isinstance(new, FunctionTool)
    assert guard.wrap(new) is new


def test_a_function_that_is_guarded_inside_a_tool_is_counted_once() -> None:
    guard = Guardrail()

    @guard.verify
    def look(query: str) -> str:
        """Looks."""
        return search(query)

    play(guarded_agent(guard, agent_of([[("look", {"query": "cats"})], "done"], look)), run_id="r")
    assert guard.session("r").state()["calls"] == 1


def test_structured_output_is_made_as_before() -> None:
    class Answer(BaseModel):
        found: bool

    agent = agent_of([[SEARCH], "done"], structured_output_fn=lambda _: Answer(found=False).model_dump())
    output, _ = play(guarded_agent(Guardrail(), agent))
    assert output.structured_response == {"found": False}


def test_money_is_charged_by_the_models_own_name() -> None:
    class Priced(ScriptedLLM):
        @property
        def metadata(self) -> Any:
            return super().metadata.model_copy(update={"model_name": "gpt-4o"})

    model = Priced(turns=[[("search", {"query": word})] for word in "abcdefgh"], tokens=(1000, 100))
    guard = Guardrail(policy={"version": 1, "extends": "balanced", "budgets": {"usd": 0.01}})
    output, _ = play(guarded_agent(guard, FunctionAgent(name="agent", llm=model, tools=[search])))
    assert "microloop" in output.raw
    assert 1 < model.asked < 8


@pytest.mark.parametrize(
    ("raw", "counted"),
    [
        ({"usage": {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 3}}, (7, 2, 3)),
        (
            {"usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}},
            (7, 2, 3),
        ),
        ({"usage_metadata": {"prompt_token_count": 7, "candidates_token_count": 2}}, (7, 2, 0)),
        ({"prompt_eval_count": 7, "eval_count": 2}, (7, 2, 0)),
        (None, (0, 0, 0)),
    ],
)
def test_tokens_are_read_in_the_words_of_each_provider(raw: Any, counted: tuple[int, int, int]) -> None:
    usage = usage_of(raw)
    assert (usage.input, usage.output, usage.cached) == counted


def test_what_is_no_agent_cannot_be_guarded() -> None:
    with pytest.raises(AdapterError, match="it is neither an agent of"):
        guarded_agent(Guardrail(), ScriptedLLM(turns=[]))


def test_without_llama_index_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from microloop.adapters._gate import versions

    monkeypatch.setitem(versions.FLOORS, "llama-index-core", "999.0")
    monkeypatch.delitem(sys.modules, "microloop.adapters.llama_index")
    with pytest.raises(AdapterError, match=r"llama-index-core is .*; 999\.0 or newer is needed: pip install --upgrade"):
        import microloop.adapters.llama_index  # noqa: F401
