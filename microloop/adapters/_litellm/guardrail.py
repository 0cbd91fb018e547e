"""`MicroloopGuardrail`: the guard as a guardrail of a LiteLLM proxy."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import litellm
from fastapi import HTTPException
from litellm.integrations.custom_guardrail import CustomGuardrail

from microloop.adapters._gate.halting import OnHalt, check_choice, halt_of
from microloop.adapters._gate.versions import require_hooks
from microloop.adapters._litellm.gate import ProxyGate
from microloop.adapters._litellm.mediator import Mediator
from microloop.adapters._litellm.model import chunks_of, has_calls, rewritten
from microloop.adapters._litellm.runs import Runs
from microloop.errors import AdapterError
from microloop.guardrail import Guardrail

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping

    from litellm import ModelResponse

    from microloop.session import Session
    from microloop.verdict import Verdict

_MODES = ["pre_call", "post_call"]
_CHAT = frozenset({"completion", "acompletion"})
# Requests whose answer has not come.
_MOST = 10_000


require_hooks(CustomGuardrail, "async_pre_call_hook", "async_post_call_failure_hook")
require_hooks(CustomGuardrail, "async_post_call_success_hook", "async_post_call_streaming_iterator_hook")


class _Request(NamedTuple):
    session: Session
    sent: list[dict[str, Any]]
    """The messages as the client has sent them."""


class MicroloopGuardrail(CustomGuardrail):
    """Checks the tool calls that a model proposes before the client sees them; their results come one request later.

    A refused call is taken out of the answer. If no call is left, the model is asked again, inside the proxy, with the
    feedback as the result: the client gets the first answer that it can act on. The feedback, and advice on results,
    stand in every later request of the conversation. A halted run ends with a message that says so and the finish
    reason `content_filter` (`on_halt="end"`), or with status 400 (`on_halt="raise"`).
    """

    def __init__(
        self,
        guard: Guardrail | None = None,
        *,
        policy: Any = "balanced",
        on_halt: OnHalt = "end",
        on_verdict: Callable[[Verdict], None] | None = None,
        **options: Any,
    ) -> None:
        check_choice(on_halt)
        modes = options.setdefault("event_hook", _MODES)
        if not isinstance(modes, list) or not set(_MODES) <= set(modes):
            raise AdapterError(f"mode is {modes!r}; microloop needs both: mode: [pre_call, post_call]")
        super().__init__(**options)
        guard = guard or Guardrail(policy)
        self._raises = on_halt == "raise"
        self._gate = ProxyGate(guard, "litellm.MicroloopGuardrail", on_verdict=on_verdict)
        self._mediator = Mediator(self._gate, self._ended)
        self._runs = Runs(guard)
        self._requests: OrderedDict[str, _Request] = OrderedDict()

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any] | None:
        """Read the results of the calls before; end a halted run instead of asking the model again."""
        del cache
        if data.get("tools") or data.get("functions"):
            _check_form(data, call_type)
        if call_type not in _CHAT:
            return None
        halt = self._gate.unless_faulty(lambda: self._received(data, user_api_key_dict.api_key))
        if halt is not None:
            self._refuse(data, halt)
        return data

    def _received(self, data: dict[str, Any], api_key: str | None) -> Verdict | None:
        """Takes a request in; the verdict that halted its run, if one did."""
        session = self._runs.session(data, api_key)
        self._open(data, _Request(session, list(data["messages"])))
        messages = self._gate.unless_faulty(lambda: self._mediator.receive(session, data))
        data["messages"] = data["messages"] if messages is None else messages
        return halt_of(session)

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> ModelResponse | None:
        """Check the calls of an answer."""
        del user_api_key_dict
        if data["litellm_call_id"] in self._requests:
            return await self._settled(data, response)
        if has_calls(response):
            self._gate.unless_faulty(_unseen)
        return None

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Any,
        *rest: Any,
        **more: Any,
    ) -> None:
        """Let go of a request that the model did not answer."""
        del original_exception, user_api_key_dict, rest, more
        self._requests.pop(request_data.get("litellm_call_id", ""), None)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Check the calls of a stream: text passes at once, calls are held until they are all there."""
        del user_api_key_dict
        guarded = request_data["litellm_call_id"] in self._requests
        async for chunk in self._checked(response, request_data) if guarded else self._unchecked(response):
            yield chunk

    async def _checked(self, response: Any, data: dict[str, Any]) -> AsyncIterator[Any]:
        chunks: list[Any] = []
        held: list[Any] = []
        async for chunk in response:
            chunks.append(chunk)
            if held or has_calls(chunk):
                held.append(chunk)
            else:
                yield chunk
        for chunk in await self._released(data, chunks, held):
            yield chunk

    async def _unchecked(self, response: Any) -> AsyncIterator[Any]:
        """A stream that answers a request which the guard has not seen: a fault of its own, if there are calls."""
        told = False
        async for chunk in response:
            if not told and has_calls(chunk):
                self._gate.unless_faulty(_unseen)
                told = True
            yield chunk

    async def _released(self, data: dict[str, Any], chunks: list[Any], held: list[Any]) -> Iterable[Any]:
        """What the client gets in place of the parts of a stream that were held."""
        whole = litellm.stream_chunk_builder(chunks)
        if whole is None:
            return ()  # the stream was empty
        proposed = list(whole.choices[0].message.tool_calls or ())
        settled = await self._settled(data, whole)
        same = settled is whole and list(settled.choices[0].message.tool_calls or ()) == proposed
        return held if same else chunks_of(settled)

    async def _settled(self, data: dict[str, Any], response: ModelResponse) -> ModelResponse:
        request = self._requests.pop(data["litellm_call_id"])
        settled, conversation = await self._mediator.settle(request.session, request.sent, data, response)
        self._gate.unless_faulty(lambda: self._runs.expect(request.session, conversation))
        return settled

    def _open(self, data: Mapping[str, Any], request: _Request) -> None:
        self._requests[data["litellm_call_id"]] = request
        if len(self._requests) > _MOST:
            self._requests.popitem(last=False)

    def _refuse(self, data: dict[str, Any], halt: Verdict) -> None:
        self._requests.pop(data["litellm_call_id"])
        if self._raises:
            raise _halted(halt)
        self.raise_passthrough_exception(_last_words(halt), data)

    def _ended(self, response: ModelResponse, halt: Verdict) -> ModelResponse:
        if self._raises:
            raise _halted(halt)
        return rewritten(response, _last_words(halt), "content_filter")


def _last_words(halt: Verdict) -> str:
    return f"This run was halted. {halt.feedback}"


def _halted(halt: Verdict) -> HTTPException:
    return HTTPException(400, {"error": _last_words(halt), "microloop": halt.as_dict()})


def _unseen() -> None:
    raise HTTPException(500, {"error": "an answer has tool calls, but microloop has not seen its request"})


def _check_form(data: Mapping[str, Any], call_type: str) -> None:
    """Refuses tools where their calls could pass unseen."""
    if call_type not in _CHAT:
        problem = f"a request of type {call_type} has tools, which microloop guards on /v1/chat/completions only"
        raise HTTPException(400, {"error": problem})
    if data.get("functions"):
        raise HTTPException(400, {"error": "functions is OpenAI's older form of tools; microloop guards tools: use it"})
    if (data.get("n") or 1) != 1:
        raise HTTPException(400, {"error": f"n is {data['n']}; microloop guards tools of one choice: leave n out"})
