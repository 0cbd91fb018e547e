"""How a call is answered by a tool of LlamaIndex."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.tools import ToolOutput
from workflows.runtime.types.results import WaitingForEvent

from microloop.adapters._gate.calls import Decision
from microloop.adapters._gate.gate import log_advice
from microloop.adapters._gate.inner import InnerGate
from microloop.adapters._llama_index.asking import ask_in_stream
from microloop.adapters._llama_index.runs import in_this_run
from microloop.verdict import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from microloop.adapters._gate.calls import Entry
    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.verdict import Verdict


class ToolGate(InnerGate):
    """Answers with a `ToolOutput` that is marked as an error."""

    def __init__(self, guard: Guardrail, hook: str, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        super().__init__(guard, hook, on_verdict=on_verdict)
        self.classes: dict[type[Any], type[Any]] = {}
        """Of the tools behind this gate, by the classes that they are copies of."""

    def answer(self, entry: Entry, text: str) -> Any:
        """The refusal in place of the tool's output. `raw_output` has the verdict."""
        return ToolOutput(
            content=text,
            tool_name=entry.name,
            raw_input=entry.arguments or {},
            raw_output={"microloop": entry.verdict.as_dict()},
            is_error=True,
        )

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """What the model is shown: without the context, and without what `partial_params` fills in."""
        schema: Mapping[str, Any] = tool.metadata.get_parameters_dict()
        return schema

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """What the model is told."""
        if not isinstance(result, ToolOutput):
            return super().outcome_of(entry, result)
        return (None, result.exception or result.content) if result.is_error else (result.content, None)

    def advised(self, entry: Entry, result: Any) -> Any:
        """The output with the advice as its first block."""
        if not isinstance(result, ToolOutput):
            log_advice(entry.verdict, result)
            return result
        advice = TextBlock(text=f"{entry.verdict.feedback}\n")
        return result.model_copy(update={"blocks": [advice, *result.blocks]})

    async def adecide(self, entry: Entry) -> Decision:
        """A call whose question is in the event stream comes back with the answer: it is cancelled only by a no."""
        if entry.verdict.action is not Action.ASK or self.guard.ask is not ask_in_stream:
            return await super().adecide(entry)
        agreed = await ask_in_stream(entry.verdict)
        if not agreed:
            self.guard.cancel(entry.verdict)
        return Decision(agreed)

    @contextmanager
    def inside(self, session: Session) -> Iterator[None]:
        """Around a tool: what is checked inside belongs to this run, and a run that begins inside is its child."""
        with super().inside(session), in_this_run():
            yield

    def pauses(self, error: BaseException) -> bool:
        """Whether the tool waits for an event: it is started again when that has come."""
        return isinstance(error, WaitingForEvent)
