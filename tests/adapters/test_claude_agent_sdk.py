"""What the hooks for the Claude Agent SDK do beyond the contract of all adapters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    create_sdk_mcp_server,
    tool,
)
from claude_cli import SERVER, ScriptedCli, Turn

from microloop import Guardrail
from microloop.adapters._claude import spending
from microloop.adapters.claude_agent_sdk import charged, guarded_options

pytestmark = pytest.mark.adapter
SEARCH = f"mcp__{SERVER}__search"


@tool("search", "Search.", {"query": str})
async def search(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"nothing about {arguments['query']}"}]}


def options(**more: Any) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=[search])}, **more)


def cli(*turns: Turn, tokens: tuple[int, int] = (0, 0)) -> ScriptedCli:
    return ScriptedCli(lambda asked: turns[min(asked, len(turns) - 1)], {SEARCH: ["query"]}, "run-1", tokens)


def asking(number: int, **arguments: Any) -> Turn:
    return [(f"toolu_{number}", SEARCH, arguments or {"query": "cats"})]


def play(claude: ScriptedCli, chosen: ClaudeAgentOptions, *prompts: str, guard: Guardrail | None = None) -> list[Any]:
    async def run() -> list[Any]:
        messages = []
        async with ClaudeSDKClient(chosen, transport=claude) as client:
            for prompt in prompts or ("find something about cats",):
                await client.query(prompt)
                received = client.receive_response()
                messages += [each async for each in (charged(guard, received) if guard else received)]
        return messages

    return asyncio.run(run())


def test_the_options_keep_what_they_have_and_the_given_ones_are_not_changed() -> None:
    asked: list[str] = []

    async def mine(data: Any, *_: Any) -> dict[str, Any]:
        asked.append(data["tool_name"])
        return {}

    given = options(hooks={"PreToolUse": [HookMatcher(hooks=[mine])]}, max_turns=7)
    claude = cli(asking(1), "done")
    chosen = guarded_options(Guardrail(), given)
    play(claude, chosen)
    assert chosen.max_turns == 7
    assert asked == [SEARCH]
    assert list(given.hooks or {}) == ["PreToolUse"]


def test_a_process_that_would_let_calls_pass_when_the_hook_fails_is_refused() -> None:
    class Old(ScriptedCli):
        supported = False

    claude = Old(lambda _: "done", {}, None, (0, 0))
    with pytest.raises(CLIConnectionError, match="on_failure"):
        play(claude, guarded_options(Guardrail()))


def test_a_hook_that_is_told_nonsense_denies_the_call() -> None:
    claude = cli(asking(1), "done")
    claude.omitted = frozenset({"session_id"})
    play(claude, guarded_options(Guardrail(), options()))
    assert "nothing about" not in claude.told[0]


def test_advice_is_shown_beside_the_result() -> None:
    claude = cli(*map(asking, range(3)), "done")
    play(claude, guarded_options(Guardrail(), options()))
    result, advice = claude.told[2].split("\n", 1)
    assert result == "nothing about cats"
    assert advice.startswith("[microloop")


def test_a_halt_answers_the_turn_and_ends_the_run_before_the_model_is_asked_again() -> None:
    guard = Guardrail("strict_loop_detection")
    turns = [[(f"new_{n}", SEARCH, {"query": n}), (f"same_{n}", SEARCH, {"query": "cats"})] for n in "abcdefg"]
    claude = cli(*turns)
    messages = play(claude, guarded_options(guard, options()))
    assert claude.stopped == "hook_stopped"
    assert claude.asked == 5
    assert claude.told[-2] == "nothing about e"
    assert guard.session("run-1").state()["halted"]
    assert messages[-1].subtype == "success"


def test_calls_that_a_person_denies_are_a_loop_too() -> None:
    async def deny(*_: Any) -> PermissionResultDeny:
        return PermissionResultDeny(message="not today")

    claude = cli(*map(asking, range(9)))
    claude.asks_anyway = True
    play(claude, guarded_options(Guardrail("strict_loop_detection"), options(can_use_tool=deny)))
    assert claude.told[:2] == ["not today"] * 2
    assert "was refused" in claude.told[2]
    assert claude.stopped


def test_calls_that_claude_code_answers_itself_are_a_loop_too() -> None:
    claude = cli(*[asking(number, wrong="cats") for number in range(99)])
    play(claude, guarded_options(Guardrail("strict_loop_detection"), options()))
    assert claude.stopped
    assert claude.asked < 9


@pytest.mark.parametrize("agreed", [True, False])
def test_consent_is_asked_for_by_claude_code_with_the_reason(agreed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    reasons: list[str | None] = []

    async def decide(_name: str, _input: Any, context: Any) -> Any:
        reasons.append(context.decision_reason)
        return PermissionResultAllow() if agreed else PermissionResultDeny(message="no")

    rule = {"id": "consent", "path": "query", "ask": {"regex": "cats"}}
    guard = Guardrail({"version": 1, "extends": "balanced", "tools": [{"match": SEARCH, "rules": [rule]}]})
    claude = cli(asking(1), "done")
    play(claude, guarded_options(guard, options(can_use_tool=decide)))
    assert claude.told == ["nothing about cats" if agreed else "no"]
    assert "consent" in str(reasons[0])


def test_a_sub_agent_has_counters_of_its_own_and_the_budget_of_its_parent() -> None:
    guard = Guardrail({"version": 1, "extends": "strict_loop_detection", "budgets": {"calls": 3}})
    chosen = guarded_options(guard, options())
    main = cli(*map(asking, range(2)), "done")
    play(main, chosen)
    helper = cli(*map(asking, range(2)), "done")
    helper.agent = {"agent_id": "agent-7", "agent_type": "helper"}
    play(helper, chosen)
    assert helper.told[0] == "nothing about cats"
    assert "budget" in helper.told[1]


def test_what_the_person_says_starts_the_counters_anew() -> None:
    claude = cli(*map(asking, range(2)), "done", *map(asking, range(2, 4)), "done")
    play(claude, guarded_options(Guardrail("strict_loop_detection"), options()), "find cats", "try again")
    assert claude.told == ["nothing about cats"] * 4


def test_an_interrupt_is_no_outcome() -> None:
    guard = Guardrail()
    hooks = guarded_options(guard).hooks or {}
    data = {"session_id": "run-1", "tool_name": "Bash", "tool_input": {"command": "sleep 9"}}

    async def run() -> None:
        await hooks["PreToolUse"][0].hooks[0]({**data, "hook_event_name": "PreToolUse"}, "toolu_1", {})
        told = {**data, "hook_event_name": "PostToolUseFailure", "error": "interrupted", "is_interrupt": True}
        assert await hooks["PostToolUseFailure"][0].hooks[0](told, "toolu_1", {}) == {}

    asyncio.run(run())
    assert guard.session("run-1").state()["calls"] == 0


def test_one_answer_that_comes_in_parts_is_charged_once() -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"tokens": 1000}})

    async def parts() -> Any:
        for output in (5, 20):
            usage = {"input_tokens": 10, "cache_read_input_tokens": 70, "output_tokens": output}
            yield AssistantMessage(
                content=[], model="claude-sonnet-4-5", usage=usage, message_id="msg_1", session_id="run-1"
            )

    async def run() -> int:
        return len([each async for each in charged(guard, parts())])

    assert asyncio.run(run()) == 2
    assert guard.session("run-1").state()["tokens"] == 100


def test_spent_tokens_end_the_run() -> None:
    guard = Guardrail({"version": 1, "extends": "balanced", "budgets": {"tokens": 250}})
    claude = cli(*[asking(number, query=f"cats {number}") for number in range(9)], tokens=(80, 20))
    play(claude, guarded_options(guard, options()), guard=guard)
    assert claude.asked == 3
    assert claude.stopped


@pytest.mark.parametrize("on_error", ["allow", "block"])
def test_a_fault_in_charging_ends_no_run_where_the_policy_lets_faults_pass(
    monkeypatch: pytest.MonkeyPatch, on_error: str
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(spending, "spend", broken)
    guard = Guardrail({"version": 1, "on_error": on_error})
    if on_error == "block":
        with pytest.raises(RuntimeError, match="a bug of ours"):
            play(cli("done", tokens=(10, 1)), options(), guard=guard)
        return
    assert any(isinstance(each, AssistantMessage) for each in play(cli("done", tokens=(10, 1)), options(), guard=guard))


def test_answers_that_come_by_turns_are_charged_once() -> None:
    def part(answer: str, output: int) -> AssistantMessage:
        used = {"input_tokens": 10, "output_tokens": output}
        return AssistantMessage([], "claude", usage=used, message_id=answer, session_id="run-1")

    async def messages() -> AsyncIterator[AssistantMessage]:
        for each in (part("main", 1), part("sub", 1), part("main", 5), part("sub", 2)):
            yield each

    async def run() -> None:
        assert [each.message_id async for each in charged(guard, messages())] == ["main", "sub"] * 2

    guard = Guardrail()
    asyncio.run(run())
    assert guard.session("run-1").state()["tokens"] == 27
