"""AG2 before 1.0: what the contract of all adapters cannot say."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from microloop import AdapterError, Guardrail, RunHalted
from microloop.adapters.ag2_classic import guard_agents

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # AG2's own, about what it imports
    from autogen import ConversableAgent, register_function

pytestmark = [pytest.mark.adapter, pytest.mark.filterwarnings("ignore")]
STRICT = "strict_loop_detection"


def search(query: str) -> str:
    """Search the web."""
    return "nothing found"


class Scripted(ConversableAgent):
    """An agent with a model, which speaks these turns."""

    def __init__(self, *turns: Any) -> None:
        config = {"model": "scripted", "model_client_cls": "Unused", "api_key": "none"}
        super().__init__("assistant", llm_config=config, human_input_mode="NEVER")
        self.turns = iter(turns)
        self.register_reply([ConversableAgent, None], Scripted.speak, position=0)

    def speak(self, messages: Any = None, sender: Any = None, config: Any = None) -> tuple[bool, Any]:
        turn = next(self.turns)
        return True, turn if isinstance(turn, str) else {"role": "assistant", "content": "", "tool_calls": turn}


def call(name: str = "search", number: int = 0, arguments: str = "") -> list[dict[str, Any]]:
    function = {"name": name, "arguments": arguments or json.dumps({"query": "cats"})}
    return [{"id": f"c{number}", "type": "function", "function": function}]


def agents(*turns: Any, tools: Any = (search,)) -> tuple[ConversableAgent, ConversableAgent]:
    assistant = Scripted(*turns)
    executor = ConversableAgent(
        "executor",
        llm_config=False,
        human_input_mode="NEVER",
        is_termination_msg=lambda said: said["content"] == "done",
    )
    for each in tools:
        register_function(each, caller=assistant, executor=executor, description=each.__doc__)
    return assistant, executor


def chat(guard: Guardrail, *turns: Any, tools: Any = (search,), **options: Any) -> list[str]:
    assistant, executor = agents(*turns, tools=tools)
    guard_agents(guard, assistant, executor, **options)
    executor.initiate_chat(assistant, message="Find cats.", silent=True)
    return told(assistant, executor)


def told(assistant: Any, executor: Any) -> list[str]:
    messages = assistant.chat_messages[executor]
    return [answer["content"] for message in messages for answer in message.get("tool_responses", ())]


def test_a_refusal_is_an_error_with_the_feedback() -> None:
    answers = chat(Guardrail(STRICT), call(), call(), call(), "done")
    assert answers[:2] == ["nothing found"] * 2
    assert answers[2].startswith("Error: [microloop #1] search was refused")


def test_a_halt_raises_when_all_calls_are_answered() -> None:
    assistant, executor = agents(*[call()] * 9)
    guard_agents(Guardrail(STRICT), assistant, executor)
    with pytest.raises(RunHalted):
        executor.initiate_chat(assistant, message="Find cats.", silent=True)
    assert len(told(assistant, executor)) == 5


def test_a_halt_can_end_the_chat_without_another_word() -> None:
    assert len(chat(Guardrail(STRICT), *[call()] * 9, on_halt="end")) == 5


@pytest.mark.parametrize(("name", "arguments"), [("serach", ""), ("search", '{"query": ')])
def test_calls_that_ag2_answers_itself_are_a_loop_too(name: str, arguments: str) -> None:
    with pytest.raises(RunHalted):
        chat(Guardrail(STRICT), *[call(name, number, arguments) for number in range(15)])


def test_chats_are_apart_unless_a_session_is_around_them() -> None:
    guard = Guardrail(STRICT)
    for _ in range(3):
        assert chat(guard, call(), call(), "done") == ["nothing found"] * 2
    with guard.session("mine") as session:
        for _ in range(2):
            assert chat(guard, call(), call(), "done") == ["nothing found"] * 2
        assert session.state()["calls"] == 4


def test_a_tool_that_asks_another_agent_has_a_child_session() -> None:
    guard = Guardrail({"version": 1, "extends": STRICT, "budgets": {"calls": 6}})

    def helper(task: str) -> str:
        """Ask somebody else."""
        return " ".join(chat(guard, call(), call(), "done"))

    asks = [call("helper", number, json.dumps({"task": task})) for number, task in enumerate("abc")]
    with pytest.raises(RunHalted) as halted:
        chat(guard, *asks, "done", tools=[helper])
    assert halted.value.verdict.reason == "budget.calls"


def test_a_coroutine_in_a_synchronous_chat_finds_the_session() -> None:
    guard = Guardrail(STRICT)

    async def lookup(query: str) -> str:
        """Look it up."""
        return "nothing"

    with guard.session("mine") as session:
        assert chat(guard, call("lookup"), call("lookup"), "done", tools=[lookup]) == ["nothing"] * 2
        assert session.state()["calls"] == 2


def test_group_chats_run_the_guarded_functions_in_their_own_executor() -> None:
    guard = Guardrail(STRICT)
    assistant, executor = agents()
    guard_agents(guard, assistant, executor)
    other = ConversableAgent("other", llm_config=False)
    other._function_map.update(executor._function_map)
    with guard.session("mine") as session:
        assert other.execute_function(call()[0]["function"])[1]["content"] == "nothing found"
        assert session.state()["calls"] == 1


def test_agents_are_guarded_once_and_must_be_agents() -> None:
    guard, made = Guardrail(), agents()
    guard_agents(guard, *made)
    with pytest.raises(AdapterError, match="guarded already"):
        guard_agents(guard, *made)
    with pytest.raises(AdapterError, match="no ConversableAgent"):
        guard_agents(guard, object())
