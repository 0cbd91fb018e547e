"""What the guardrail for the LiteLLM proxy does beyond the contract of all adapters."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from litellm_proxy import KEY, address, serve

from microloop import Guardrail, Verdict
from microloop.errors import AdapterError

pytestmark = pytest.mark.adapter
TOOLS = [
    {
        "type": "function",
        "function": {"name": "search", "parameters": {"type": "object", "properties": {}, "required": ["query"]}},
    }
]
_names = itertools.count()


@pytest.fixture(autouse=True)
def _quiet() -> None:
    # LiteLLM warns about itself in its own threads; pytest takes this back after each test.
    warnings.simplefilter("ignore")
    address()


class Script:
    """A model that speaks its turns, each a text or a list of queries, and keeps what it was asked."""

    def __init__(self, *turns: str | list[str]) -> None:
        self._turns = turns
        self.asked: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        number = len(self.asked)
        self.asked.append(request)
        turn = self._turns[min(number, len(self._turns) - 1)]
        usage = {"prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100}
        if isinstance(turn, str):
            return {"message": {"role": "assistant", "content": turn}, "usage": usage}
        calls = [proposed(f"c{number}.{place}", each) for place, each in enumerate(turn)]
        return {"message": {"role": "assistant", "content": "Let me see.", "tool_calls": calls}, "usage": usage}

    @property
    def told(self) -> list[str]:
        """What the tool messages of the latest request say."""
        return [each["content"] for each in self.asked[-1]["messages"] if each["role"] == "tool"]


def proposed(call_id: str, query: str) -> dict[str, Any]:
    function = {"name": "search", "arguments": json.dumps({"query": query})}
    return {"id": call_id, "type": "function", "function": function}


class Client:
    """An agent's side: a conversation, one request at a time."""

    def __init__(
        self, model: Callable[[dict[str, Any]], dict[str, Any]], *guardrails: str, session: str | None = None
    ) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "find cats"}]
        self._request = {"model": serve(model), "tools": TOOLS, "guardrails": list(guardrails)}
        self._headers = {"Authorization": f"Bearer {KEY}", **({"x-litellm-session-id": session} if session else {})}

    def post(self, path: str = "chat/completions", **more: Any) -> httpx.Response:
        given = {**self._request, "messages": self.messages, **more}
        request = {key: value for key, value in given.items() if value is not None}
        return httpx.post(f"{address()}/{path}", json=request, headers=self._headers, timeout=60)

    def ask(self) -> dict[str, Any]:
        """The choice of the answer, whose calls are run: each finds nothing."""
        response = self.post()
        assert response.status_code == 200, response.text
        choice: dict[str, Any] = response.json()["choices"][0]
        self.messages.append(choice["message"])
        for each in choice["message"].get("tool_calls") or ():
            self.messages.append({"role": "tool", "tool_call_id": each["id"], "content": "nothing"})
        return choice

    def said(self) -> Iterator[Any]:
        with httpx.stream(
            "POST",
            f"{address()}/chat/completions",
            json={**self._request, "messages": self.messages, "stream": True},
            headers=self._headers,
            timeout=60,
        ) as response:
            for line in response.iter_lines():
                if line.startswith("data: {"):
                    yield from json.loads(line.removeprefix("data: "))["choices"]


def attached(guard: Guardrail, **options: Any) -> str:
    import litellm

    from microloop.adapters.litellm import MicroloopGuardrail

    name = f"guard-{next(_names)}"
    litellm.logging_callback_manager.add_litellm_callback(MicroloopGuardrail(guard, guardrail_name=name, **options))
    return name


def test_a_guardrail_in_the_configuration_guards_by_its_policy() -> None:
    model = Script(*[["cats"]] * 3, "I found nothing.")
    client = Client(model, "configured")
    assert [bool(client.ask()["message"].get("tool_calls")) for _ in range(3)] == [True, True, False]
    assert client.messages[-1]["content"] == "I found nothing."
    assert len(model.asked) == 4
    assert "search was refused" in model.told[-1]


def test_without_both_hooks_it_does_not_attach() -> None:
    from microloop.adapters.litellm import MicroloopGuardrail

    with pytest.raises(AdapterError, match=r"mode is 'post_call'; microloop needs both"):
        MicroloopGuardrail(Guardrail(), guardrail_name="half", event_hook="post_call")


def test_of_several_calls_the_client_sees_those_that_may_run_and_the_model_reads_all_answered() -> None:
    model = Script(["cats", "cats", "dogs"], ["birds"], "done")
    client = Client(model, attached(Guardrail()))
    assert [each["id"] for each in client.ask()["message"]["tool_calls"]] == ["c0.0", "c0.2"]
    client.ask()
    client.ask()
    first = model.asked[2]["messages"][1]
    assert [each["id"] for each in first["tool_calls"]] == ["c0.0", "c0.2", "c0.1"]
    assert [each["tool_call_id"] for each in model.asked[2]["messages"] if each["role"] == "tool"] == [
        "c0.1",
        "c0.0",
        "c0.2",
        "c1.0",
    ]


def test_refusals_and_advice_stay_in_the_conversation_that_the_model_reads() -> None:
    model = Script(*[["cats"]] * 5, ["dogs"], "done")
    client = Client(model, attached(Guardrail()))
    while client.ask()["message"].get("tool_calls"):
        pass
    before, after = ([each for each in model.asked[place]["messages"] if each["role"] == "tool"] for place in (-2, -1))
    assert after[: len(before)] == before
    assert [each["content"].startswith("[microloop") for each in after] == [False, False, True, True, True, False]
    assert "was refused" in after[4]["content"]
    assert not any("microloop" in str(each["content"]) for each in client.messages)


def test_a_stream_lets_text_pass_and_holds_calls_until_they_are_judged() -> None:
    model = Script(*[["cats"]] * 3, "I found nothing.")
    client = Client(model, "configured")
    for _ in range(2):
        client.ask()
    choices = list(client.said())
    assert "".join(each["delta"].get("content") or "" for each in choices) == "Let me see.I found nothing."
    assert not any(each["delta"].get("tool_calls") for each in choices)
    assert choices[-1]["finish_reason"] == "stop"


def test_a_halted_run_ends_as_filtered_and_asks_the_model_no_more() -> None:
    model = Script(["cats"])
    client = Client(model, "configured", session="halted-run")
    reasons = [client.ask()["finish_reason"] for _ in range(4)]
    assert reasons == ["tool_calls", "tool_calls", "content_filter", "content_filter"]
    assert client.messages[-1]["content"].startswith("This run was halted.")
    assert len(model.asked) == 5


def test_a_halt_may_be_an_error_instead() -> None:
    client = Client(Script(["cats"]), attached(Guardrail("strict_loop_detection"), on_halt="raise"), session="raised")
    for _ in range(2):
        client.ask()
    for _ in range(2):
        response = client.post()
        assert response.status_code == 400
        assert "This run was halted." in response.text


def test_a_model_that_insists_gets_its_last_refusal_as_the_answer() -> None:
    roles = {"default": "reader", "otherwise": "deny", "grants": {"reader": {"allow": ["read_*"]}}}
    model = Script(*[[f"cats {number}"] for number in range(99)])
    choice = Client(model, attached(Guardrail({"version": 1, "roles": roles}))).ask()
    assert choice["finish_reason"] == "stop"
    assert "search was refused" in choice["message"]["content"]
    assert len(model.asked) == 9


def test_the_answers_that_the_client_never_sees_are_paid_for_as_well() -> None:
    verdicts: list[Verdict] = []
    guard = Guardrail("strict_loop_detection")
    client = Client(Script(*[["cats"]] * 3, "done"), attached(guard, on_verdict=verdicts.append))
    while client.ask()["message"].get("tool_calls"):
        pass
    assert {each.session.state()["tokens"] for each in verdicts} == {400}


def test_what_the_person_says_starts_the_counters_anew() -> None:
    model = Script(["cats"], ["cats"], "Nothing.", ["cats"], ["cats"], "Still nothing.")
    client = Client(model, "configured")
    for _ in range(3):
        client.ask()
    client.messages.append({"role": "user", "content": "try again"})
    for _ in range(3):
        client.ask()
    assert client.messages[-1]["content"] == "Still nothing."
    assert len(model.asked) == 6


def test_two_conversations_that_begin_alike_are_two_runs() -> None:
    clients = [Client(Script(*[["cats"]] * 2, "done"), "configured") for _ in range(2)]
    for client in clients:
        for _ in range(3):
            client.ask()
        assert client.messages[-1]["content"] == "done"


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("responses", {"input": "find cats"}),
        ("messages", {"max_tokens": 99}),
        ("chat/completions", {"n": 2}),
        ("chat/completions", {"tools": None, "functions": [TOOLS[0]["function"]]}),
    ],
)
def test_what_it_cannot_guard_it_refuses(path: str, more: Any) -> None:
    response = Client(Script(["cats"]), "configured").post(path, **more)
    assert response.status_code == 400
    assert "microloop guards" in response.text


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("chat/completions", {"n": 2}),
        ("completions", {"prompt": "find cats", "messages": None}),
        ("messages", {"max_tokens": 99}),
        ("messages", {"max_tokens": 99, "stream": True}),
    ],
)
def test_requests_without_tools_pass_on_every_route(path: str, more: Any) -> None:
    response = Client(Script("hello"), "configured").post(path, tools=None, **more)
    assert response.status_code == 200, response.text
    assert "hello" in response.text


def test_a_fault_in_charging_lets_answers_pass_where_the_policy_lets_faults_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from microloop.adapters._litellm import mediator

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(mediator, "spend", broken)
    guard = Guardrail({"version": 1, "on_error": "allow"})
    assert Client(Script("done"), attached(guard)).ask()["message"]["content"] == "done"


@pytest.mark.parametrize("place", ["runs.session_of", "guardrail.halt_of", "guardrail.Runs.expect"])
@pytest.mark.parametrize("streams", [False, True])
def test_a_fault_around_a_request_lets_it_pass_where_the_policy_lets_faults_pass(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str, *, streams: bool
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(f"microloop.adapters._litellm.{place}", broken)
    client = Client(Script(["cats"], "done"), attached(Guardrail({"version": 1, "on_error": "allow"})))
    if streams:
        assert any(each["delta"].get("tool_calls") for each in client.said())
    else:
        assert client.ask()["message"]["tool_calls"]
        assert client.ask()["message"]["content"] == "done"
    assert "microloop failed in litellm.MicroloopGuardrail (on_error: allow)" in caplog.text
    assert "a bug of ours" in caplog.text


@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_before_a_request_ends_it_by_default_and_the_model_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, *, stream: bool
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("microloop.adapters._litellm.runs.session_of", broken)
    model = Script(["cats"])
    assert Client(model, attached(Guardrail())).post(stream=stream).status_code == 500
    assert model.asked == []


def test_what_it_cannot_guard_it_refuses_whatever_on_error_says() -> None:
    lenient = attached(Guardrail({"version": 1, "on_error": "allow"}))
    assert Client(Script(["cats"]), lenient).post("chat/completions", n=2).status_code == 400


def test_a_tool_whose_schema_cannot_be_used_leaves_the_others_alone() -> None:
    model = Script(["cats"], "I found nothing.")
    client = Client(model, attached(Guardrail()))
    word = {"type": "string", "pattern": "^(?!secret)."}
    find = {"name": "find", "parameters": {"type": "object", "properties": {"word": word}}}
    tools = [*TOOLS, {"type": "function", "function": find}]
    choice = client.post(tools=tools).json()["choices"][0]
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "search"


def test_a_request_that_the_model_does_not_answer_is_let_go_of() -> None:
    import litellm

    from microloop.adapters.litellm import MicroloopGuardrail

    def down(_: dict[str, Any]) -> dict[str, Any]:
        raise ConnectionError

    guardrail = MicroloopGuardrail(Guardrail(), guardrail_name="waiting")
    litellm.logging_callback_manager.add_litellm_callback(guardrail)
    assert Client(down, "waiting").post().status_code == 500
    assert not guardrail._requests
