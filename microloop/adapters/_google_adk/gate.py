"""How a call is answered in ADK's tool callbacks."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.calls import Decision
from microloop.adapters._gate.nested import called_by
from microloop.adapters._gate.paired import PairedGate
from microloop.adapters._google_adk.results import advised, error_of
from microloop.coverage import checked_by_outer_hook
from microloop.verdict import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from microloop.adapters._gate.calls import Entry
    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


class Paused(BaseException):
    """The call waits for a person and comes again with its id. It is told to the gate and never raised."""


class AdkGate(PairedGate):
    """Answers with `{"error": …}`. What comes of a call is matched by its `ToolContext`."""

    def __init__(self, guard: Guardrail, hook: str, *, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        super().__init__(guard, hook, on_verdict=on_verdict)
        self._around: dict[Hashable, ExitStack] = {}

    def answer(self, entry: Entry, text: str) -> Any:
        """The error in place of the tool's result."""
        del entry
        return {"error": text}

    def schema_of(self, tool: Any) -> Mapping[str, Any] | None:
        """What the tool declares to the model."""
        declaration = tool._get_declaration()  # noqa: SLF001 - the method that every tool of ADK overrides
        if declaration is None:
            return None
        if declaration.parameters_json_schema is not None:
            schema: Mapping[str, Any] = declaration.parameters_json_schema
            return schema
        parameters = declaration.parameters
        return None if parameters is None else parameters.json_schema.model_dump(mode="json", exclude_none=True)

    def outcome_of(self, entry: Entry, result: Any) -> tuple[Any, BaseException | str | None]:
        """See `error_of`."""
        del entry
        error = error_of(result)
        return (result, None) if error is None else (None, error)

    def advised(self, entry: Entry, result: Any) -> Any:
        """See `results.advised`."""
        return advised(entry.verdict, entry.call and entry.call.tool, result)

    async def ashared(self, entry: Entry) -> Any:
        """An exception raised here would count as the plugin's own and end the run: it becomes the answer."""
        try:
            return await super().ashared(entry)
        except Exception as error:  # noqa: BLE001 - the tool's own, which the call that ran has raised
            return {"error": f"{type(error).__name__}: {error}"}

    async def adecide(self, entry: Entry) -> Decision:
        """`Guardrail(ask=…)` decides, else a person by ADK's tool confirmation."""
        if entry.verdict.action is not Action.ASK or self.guard.ask is not None:
            return await super().adecide(entry)
        return self._confirmed(entry)

    def _confirmed(self, entry: Entry) -> Decision:
        context = entry.native
        if context.tool_confirmation is None:
            context.request_confirmation(hint=entry.verdict.feedback, payload=entry.verdict.as_dict())
            context.actions.skip_summarization = True  # else the model is asked again, before the person
            return Decision(approved=False)
        if not context.tool_confirmation.confirmed:
            self.guard.cancel(entry.verdict)
        return Decision(context.tool_confirmation.confirmed)

    def pauses(self, error: BaseException) -> bool:
        """Whether the call comes again."""
        return isinstance(error, Paused)

    def _opened(self, key: Hashable, entry: Entry) -> None:
        super()._opened(key, entry)
        if entry.call is not None:
            # The tool runs in the task of this hook: what is set here is seen inside.
            self._around[key] = around = ExitStack()
            around.enter_context(self.inside(entry.call.session))
            around.enter_context(called_by(entry.call))
            around.enter_context(checked_by_outer_hook(self.guard, entry.name, entry.call.tool))
        # The second hook is missing where another plugin answers before this one, or fails: each call has its own task.
        task = asyncio.current_task()
        if task is not None:
            task.add_done_callback(lambda _: self._forsaken(key))

    def _closed(self, key: Hashable) -> Entry | None:
        around = self._around.pop(key, None)
        if around is not None:
            around.close()
        return super()._closed(key)

    def _forsaken(self, key: Hashable) -> None:
        with suppress(ValueError):  # the context variables of a task that is over need no resetting
            self._around.pop(key, ExitStack()).close()
        entry = super()._closed(key)
        if entry is not None:
            self.abandon(entry)
