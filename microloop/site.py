"""`Site`: one guarded function. What happens here is everything but a plain allow."""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType, FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

from microloop import ambient
from microloop._native import STALE_HANDLE, lib
from microloop.coverage import take_passage
from microloop.encoding import ERROR, UNWRITABLE, error_text, exact_json, outcome_json, text_bytes
from microloop.errors import BlockedCall, SessionError, run_halted
from microloop.judgement import NO_CONTEXT, NOTED, fault, verdict_of
from microloop.log import logger
from microloop.verdict import ALLOW, ASK, HALT, WARN, Verdict

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.session import Session
    from microloop.tools import Tool

Judged: TypeAlias = "tuple[Session | None, int, Verdict | None]"


class Site:
    """A function, the tool that it is, and the guard that it belongs to."""

    __slots__ = ("bind", "encode", "function", "guard", "tool")

    def __init__(
        self,
        guard: Guardrail,
        tool: Tool,
        function: Callable[..., Any],
        bind: Callable[..., dict[str, Any]],
        encode: Callable[[dict[str, Any]], bytes],
    ) -> None:
        self.guard = guard
        self.tool = tool
        self.function = function
        self.bind = bind
        self.encode = encode

    def passes(self) -> bool:
        """Whether an adapter has checked this very call already."""
        return take_passage(self.guard, self.tool.name, self.function)

    def judged(self, session: Session, packed: int, data: bytes) -> Verdict | None:
        """The verdict behind what `microloop_check` returned; None for a plain allow."""
        verdict = verdict_of(session, self.tool, packed, data)
        return verdict if packed & NOTED or verdict.action is not ALLOW else None

    def once_more(self, arguments: dict[str, Any], error: Exception) -> Judged:
        """The check of arguments that the encoder could not write, or the verdict on a fault of our own."""
        if isinstance(error, SessionError):
            raise error
        session = None
        try:
            if not isinstance(error, UNWRITABLE):
                return None, 0, fault(self.tool, session, error)
            session = self.guard.here()
            data = exact_json(arguments)
            packed = lib.microloop_check(session.handle, self.tool.index, data, len(data), NO_CONTEXT)
            return session, packed, self.judged(session, packed, data)
        except SessionError:
            raise
        except Exception as second:  # noqa: BLE001 - whatever fails in us, `on_error` decides, and it is logged
            return None, 0, fault(self.tool, session, second)

    def permits(self, verdict: Verdict) -> bool:
        """Whether the call may run."""
        return verdict.allowed if verdict.action is not ASK else self.guard.permits(verdict)

    async def permits_async(self, verdict: Verdict) -> bool:
        """`permits` where a decider can be awaited."""
        return verdict.allowed if verdict.action is not ASK else await self.guard.apermits(verdict)

    def permits_later(self, verdict: Verdict) -> bool:
        """`permits` where a decider can be awaited only with the first item."""
        return verdict.allowed or verdict.action is ASK

    def leave(self, session: Session | None, step: int, result: Any) -> Any:
        """Records a result of any kind, and gives back what the caller gets."""
        if session is None:
            return result
        if isinstance(result, CoroutineType):
            return self._awaited(session, step, result)
        status = session.put(step, *outcome_json(result))
        if status < 0:
            self.unrecorded(session, status)
        return result

    async def _awaited(self, session: Session, step: int, result: CoroutineType[Any, Any, Any]) -> Any:
        """For a plain function that returns a coroutine: its result is what the coroutine gives."""
        try:
            given = await result
        except BaseException as error:  # recorded, and raised again
            self.failed(session, step, error)
            raise
        return self.leave(session, step, given)

    def failed(self, session: Session | None, step: int, error: BaseException) -> None:
        """Records an exception of the function. What only steers the program is no outcome."""
        if session is None:
            return
        if ambient.is_control_flow(error):
            status = lib.microloop_cancel(session.handle, step)
        else:
            status = session.put(step, ERROR, text_bytes(error_text(error)))
        if status < 0:
            self.unrecorded(session, status)

    def unrecorded(self, session: Session, status: int) -> None:
        """A call has run and could not be recorded. Its result belongs to the host, so this is said, not raised."""
        if status == STALE_HANDLE and session.closed:
            logger().warning("%s ended after session %s was closed: not recorded", self.tool.name, session.id)
        else:
            logger().error("microloop could not record a call of %s: %s", self.tool.name, session.failure(status))

    def refuse(self, verdict: Verdict, frame: FrameType | None) -> Any:
        """What the caller of a refused call gets: an exception, or the feedback where a model reads it."""
        if verdict.action is HALT:
            raise run_halted(verdict)
        tool = ambient.tool_around(self.function, frame)
        how = self.guard.on_block or ("raise" if tool is None else "return")
        if how == "raise":
            raise BlockedCall(verdict)
        if getattr(tool, "response_format", None) == "content_and_artifact":
            return verdict.feedback, None
        return verdict.feedback

    def advised(self, verdict: Verdict, result: Any, frame: FrameType | None) -> Any:
        """The result of a call that came with advice: at its head where a model reads it, in the log elsewhere."""
        tool = ambient.tool_around(self.function, frame) if verdict.action is WARN else None
        if tool is None:
            self._say(verdict)
            return result
        if isinstance(result, str):
            return f"{verdict.feedback}\n\n{result}"
        if isinstance(result, tuple) and result and isinstance(result[0], str):
            return f"{verdict.feedback}\n\n{result[0]}", *result[1:]
        return result

    def _say(self, verdict: Verdict) -> None:
        if verdict.would is not None:
            logger().info("in observe mode, would %s: %s", verdict.would, verdict.feedback)
        elif verdict.action is WARN:
            logger().warning("%s", verdict.feedback)
