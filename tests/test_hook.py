"""`microloop hook`: what each coding agent is told about its calls."""

from __future__ import annotations

import pytest
import yaml

from hook_host import DIALECTS, Host

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.fixture
def host(tmp_path):
    def make(dialect="claude-code", policy=None, **options):
        if policy is not None:
            path = tmp_path / "policy.yaml"
            path.write_text(yaml.safe_dump({"version": 1, **policy}), encoding="utf-8")
            options["policy"] = str(path)
        return Host(dialect, tmp_path / "store.sqlite3", **options)

    return make


@every_dialect
def test_a_call_that_goes_round_is_refused_with_a_way_out(host, dialect):
    agent = host(dialect)
    replies = [agent.call() for _ in range(6)]
    assert [reply.code for reply in replies] == [0] * 6
    assert [reply.denied is None for reply in replies] == [True, True, True, True, False, False]
    assert "call number 5 with the same arguments" in replies[4].denied
    assert replies[4].denied != replies[5].denied


@pytest.mark.parametrize("dialect", ["claude-code", "codex"])
def test_a_plain_yes_is_silence(host, dialect):
    reply = host(dialect).call()
    assert (reply.code, reply.stdout, reply.stderr) == (0, "", "")


@pytest.mark.parametrize("dialect", ["claude-code", "codex"])
def test_advice_reaches_the_model_before_the_call(host, dialect):
    agent = host(dialect)
    specific = [agent.call() for _ in range(3)][-1].specific
    assert specific["hookEventName"] == "PreToolUse"
    assert "Advice on Bash" in specific["additionalContext"]
    assert "permissionDecision" not in specific


def test_advice_reaches_the_model_of_gemini_after_the_call(host):
    agent = host("gemini")
    agent.call()
    agent.call()
    assert agent.tell("before").json == {}
    specific = agent.tell("after").specific
    assert specific["hookEventName"] == "AfterTool"
    assert "Advice on run_shell_command" in specific["additionalContext"]


@every_dialect
def test_two_calls_that_take_turns_are_a_cycle(host, dialect):
    agent = host(dialect, {"loops": {"cycle": {"warn": 2, "block": 4}}})
    told = [agent.call(command).denied for command in ["npm test", "git diff"] * 4]
    assert told[:6] == [None] * 6
    assert "round" in told[6]


@every_dialect
def test_a_persons_message_starts_the_count_anew(host, dialect):
    agent = host(dialect)
    assert [agent.call() for _ in range(5)][-1].denied
    assert agent.tell("prompt").code == 0
    assert agent.call().denied is None


@every_dialect
def test_two_sessions_do_not_see_each_other(host, dialect):
    one, other = host(dialect, session="one"), host(dialect, session="other")
    told = [(one.call().denied, other.call("git diff").denied) for _ in range(4)]
    assert told == [(None, None)] * 4
    assert one.call().denied
    assert other.call().denied is None


@pytest.mark.parametrize("dialect", ["claude-code", "codex"])
def test_a_sub_agent_has_a_session_of_its_own(host, dialect):
    agent = host(dialect)
    for _ in range(4):
        agent.call()
    assert agent.call(agent_id="explorer").denied is None
    assert agent.call().denied


@pytest.mark.parametrize("dialect", ["claude-code", "codex"])
def test_the_same_id_again_is_the_same_call(host, dialect):
    agent = host(dialect)
    assert [agent.tell("before").stdout for _ in range(8)] == [""] * 8


def test_a_call_without_an_id_is_found_by_what_was_called(host):
    agent = host("gemini", {"loops": {"repeat": {"block": 3}}})
    assert [agent.tell("before").denied for _ in range(2)] == [None, None]
    for key_order in ({"command": "npm test", "dir": "."}, {"dir": ".", "command": "npm test"}):
        agent.tell("before", tool_input=key_order)
    assert [agent.tell("after").code for _ in range(2)] == [0, 0]
    assert "call number 3" in agent.tell("before").denied


def test_claude_code_asks_the_person(host):
    specific = host().call("git push --force").specific
    assert specific["permissionDecision"] == "ask"
    assert "needs approval" in specific["permissionDecisionReason"]


def test_codex_which_cannot_ask_refuses(host):
    reply = host("codex").call("git push --force")
    assert reply.denied.endswith("ask the person to run it.")


def test_gemini_asks_the_person(host):
    reply = host("gemini").call("git push --force")
    assert reply.json["decision"] == "ask"
    assert "needs approval" in reply.json["systemMessage"]


HALTS = {"loops": {"repeat": {"halt": 3}}}


@pytest.mark.parametrize("dialect", ["claude-code", "gemini"])
def test_a_halt_ends_the_run(host, dialect):
    agent = host(dialect, HALTS)
    reply = [agent.call() for _ in range(3)][-1]
    assert reply.json["continue"] is False
    assert "this run is halted" in reply.json["stopReason"]
    assert "this run is halted" in reply.denied


def test_codex_which_cannot_be_stopped_before_a_call_has_every_call_refused(host):
    agent = host("codex", HALTS)
    reply = [agent.call() for _ in range(3)][-1]
    assert "continue" not in reply.json
    assert "this run is halted" in reply.denied
    assert "this run is halted" in agent.call("something else").denied


def test_a_rule_refuses_at_the_first_call(host):
    assert "it would delete everything" in host().call("rm -rf /").denied


@pytest.mark.parametrize(
    ("dialect", "name"), [("claude-code", "after-failure"), ("codex", "after"), ("gemini", "after-failure")]
)
def test_the_same_error_whatever_the_arguments_is_noticed(host, dialect, name):
    agent = host(dialect, {"loops": {"error": {"block": 4}}})
    failed = {"tool_response": "Error: exit code 1"} if dialect == "codex" else {}
    for number in range(3):
        call = {**agent.ids(), "tool_input": {"command": f"npm test {number}"}}
        assert agent.tell("before", **call).denied is None
        assert agent.tell(name, **call, **failed).code == 0
    assert "error" in agent.call("npm test 4").denied


def test_a_call_that_the_person_interrupted_does_not_count(host):
    agent = host(policy={"loops": {"repeat": {"block": 3}}})
    for _ in range(4):
        ids = agent.ids()
        assert agent.tell("before", **ids).denied is None
        assert agent.tell("after-failure", **ids, is_interrupt=True).code == 0


@every_dialect
def test_words_that_go_round_end_the_run(host, dialect):
    agent = host(dialect, {"loops": {"text": {"halt": 3}}})
    assert [agent.tell("stop").json for _ in range(2)] == [{}, {}]
    reply = agent.tell("stop")
    assert reply.json["continue"] is False
    assert "the assistant" in reply.json["stopReason"]


@every_dialect
def test_a_session_that_starts_anew_is_forgotten_and_one_that_is_resumed_goes_on(host, dialect):
    agent = host(dialect)
    for _ in range(4):
        agent.call()
    assert agent.tell("session-resumed").code == 0
    assert agent.call().denied
    assert agent.tell("session-start").code == 0
    assert agent.call().denied is None


@pytest.mark.parametrize("dialect", ["claude-code", "gemini"])
def test_a_session_that_ends_is_forgotten_with_its_sub_agents(host, dialect):
    agent = host(dialect)
    extra = {"agent_id": "explorer"} if dialect == "claude-code" else {}
    for _ in range(4):
        agent.call(**extra)
    assert agent.tell("session-end").code == 0
    assert agent.call(**extra).denied is None


@every_dialect
def test_in_observe_mode_a_call_runs_that_the_core_cannot_even_read(host, dialect):
    agent = host(dialect, {"mode": "observe"})
    assert agent.tell("before", tool_input={"n": 10**40}).code == 0
    assert agent.tell("after", tool_input={"n": 10**40}).code == 0


def test_in_observe_mode_nothing_is_said(host):
    agent = host(policy={"mode": "observe", "loops": {"repeat": {"block": 2}}})
    assert [agent.call().stdout for _ in range(4)] == [""] * 4


LOOK_BEHIND = [{"match": "Bash", "rules": [{"id": "no-prod", "path": "command", "deny": {"regex": "(?<!dry )deploy"}}]}]


@pytest.mark.parametrize(("mode", "refused"), [("enforce", True), ("observe", False)])
def test_a_rule_that_only_python_can_check_is_checked(host, mode, refused):
    agent = host(policy={"mode": mode, "tools": LOOK_BEHIND})
    assert agent.call("dry deploy").denied is None
    assert (agent.call("deploy").denied is not None) is refused
    assert (agent.call("deploy").denied is not None) is refused


def test_an_agent_that_gets_nothing_but_refusals_by_such_a_rule_is_halted(host):
    agent = host(policy={"loops": {"refused": {"halt": 3}}, "tools": LOOK_BEHIND})
    denied = [agent.call(f"deploy {n}").denied for n in range(3)]
    assert ["halted" in each for each in denied] == [False, False, True]
