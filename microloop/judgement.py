"""How a call is put to the core, what Python adds to its verdict, and what becomes of a fault of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from microloop import _native
from microloop._native import lib
from microloop.encoding import arguments_json, exact_json
from microloop.log import logger
from microloop.tools import BY_NAME
from microloop.verdict import ALLOW, ASK, BLOCK, WARN, Verdict

if TYPE_CHECKING:
    from microloop.session import Session
    from microloop.tools import Tool

FAULT = "guard.fault"
NO_CONTEXT = _native.ffi.NULL
_NOTHING_KNOWN: tuple[Any, tuple[Any, ...]] = NO_CONTEXT, ()
NOTED = 0xFF
"""Bits of what `microloop_check` returns that are all 0 for a plain allow; an error has one of them set as well."""
# Of what `microloop_refuse` returns: only a halt has a verdict of the core's own.
_HALTED = 0x80
_LONGEST_SHOWN = 64


def as_json(arguments: Any) -> bytes:
    """A call's arguments as bytes. A text is what the model wrote, right or wrong, and the core judges it.

    >>> as_json({"q": "cats"}), as_json('{"q": ')
    (b'{"q":"cats"}', b'{"q": ')
    """
    if arguments.__class__ is dict:
        return arguments_json(arguments)
    if isinstance(arguments, bytes):
        return arguments
    if isinstance(arguments, str):
        return arguments.encode("utf-8", "surrogatepass")
    return arguments_json(arguments) if isinstance(arguments, Mapping) else exact_json(arguments)


def judge(
    session: Session, tool: Tool, arguments: object, call_id: str | None = None, batch: str | None = None
) -> Verdict:
    """The verdict on one call."""
    data = as_json(arguments)
    context, kept_alive = _NOTHING_KNOWN if call_id is None and batch is None else _native.context(call_id, batch)
    if tool.index == BY_NAME:
        packed = _native.check_named(session.handle, tool.name, data, context)
    else:
        packed = lib.microloop_check(session.handle, tool.index, data, len(data), context)
    del kept_alive
    return verdict_of(session, tool, packed, data)


_MAY_RUN = frozenset({ALLOW, WARN, ASK})


def verdict_of(session: Session, tool: Tool, packed: int, data: bytes) -> Verdict:
    """The verdict behind what `microloop_check` returned, with what the rules say that run in Python."""
    if packed < 0:
        raise session.failure(packed)
    found = session.verdict(packed) if packed & NOTED else Verdict(tool=tool.name, step=packed >> 8, session=session)
    if tool.unusable and tool.on_error == "block" and found.action in _MAY_RUN:
        return _instead(session, tool, found, _unusable(tool, found.step))
    if tool.slow_rules and found.action in _MAY_RUN:
        return _with_slow_rules(session, tool, found, data)
    return found


def _with_slow_rules(session: Session, tool: Tool, found: Verdict, data: bytes) -> Verdict:
    from microloop.patterns import first_finding

    fields = first_finding(tool, data, found.step)
    if fields is None or fields["action"] is found.action:
        return found
    if session.guard.policy.mode == "observe":
        fields = {**fields, "action": ALLOW, "would": fields["action"]}
    return _instead(session, tool, found, fields)


def _unusable(tool: Tool, step: int) -> dict[str, Any]:
    return {
        "action": BLOCK,
        "reason": FAULT,
        "rule": "on_error",
        "feedback": f"[microloop, step {step}] {_shown(tool.name)} was refused: the JSON Schema of its arguments "
        f"cannot be used, so no call of it can be checked ({tool.unusable}). Go on without this tool.",
    }


def _instead(session: Session, tool: Tool, found: Verdict, fields: dict[str, Any]) -> Verdict:
    """The verdict of Python in place of the core's, which would have let the call run."""
    verdict = Verdict(tool=tool.name, step=found.step, session=session, **fields)
    session.last_verdict = verdict
    if verdict.action is not BLOCK:
        return verdict
    try:
        # The core let the call through and waits for its outcome; there will be none. It counts this with its refusals.
        packed = lib.microloop_refuse(session.handle, found.step)
        return session.verdict(packed) if packed > 0 and packed & _HALTED else verdict
    except Exception as error:  # noqa: BLE001 - whatever fails in us, what was refused stays refused
        logger().error("microloop could not count a refusal of %s", tool.name, exc_info=error)
        return verdict


def _shown(name: str) -> str:
    """As the core shows a name: a model can make up names of any length."""
    return "".join(letter for letter in str(name)[:_LONGEST_SHOWN] if letter.isprintable())


def nameless(session: Session) -> Verdict:
    """The verdict on a call that names no tool: it does not run, whatever `on_error` says."""
    verdict = Verdict(
        action=BLOCK,
        reason="args.malformed",
        rule="tool.name",
        feedback="[microloop] a call without a tool name was refused: send it again with the name of the tool.",
        session=session,
    )
    session.last_verdict = verdict
    return verdict


def fault(tool: Tool, session: Session | None, error: Exception) -> Verdict:
    """The verdict where the guard itself failed: what `on_error` says, and never in silence."""
    logger().error("microloop could not judge a call of %s (on_error: %s)", tool.name, tool.on_error, exc_info=error)
    allowed = tool.on_error == "allow"
    outcome = "was not checked" if allowed else "was refused"
    verdict = Verdict(
        action=ALLOW if allowed else BLOCK,
        reason=FAULT,
        rule="on_error",
        tool=tool.name,
        feedback=f"[microloop] {_shown(tool.name)} {outcome}: the guard itself failed ({type(error).__name__}). "
        "Go on without this call, or try it once more.",
        session=session,
    )
    if session is not None:
        session.last_verdict = verdict
    return verdict
