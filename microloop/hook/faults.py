"""What becomes of a call when the hook itself fails: what the policy's `on_error` says, and never in silence."""

from __future__ import annotations

from typing import NamedTuple

from microloop.hook.event import Event

# Exit codes that all agents understand: the call is refused; or it goes on, and the person sees the text.
REFUSED, _NOTICE = 2, 1
INTERRUPTED = 130
"""Ctrl-C, as shells count it. For agents it is a notice: one that waits for a call takes only 2 for a refusal."""


class Reply(NamedTuple):
    """What the process says, and its exit code."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


def not_ours(event: str) -> Reply:
    """The reply to an event that no decision depends on."""
    return Reply(stderr=f"microloop hook has nothing to do at {event}: take it out of this event\n", code=_NOTICE)


def failed(error: Exception, event: Event | None, policy: str) -> Reply:
    """The reply where no decision was found."""
    return _undecided(f"microloop hook failed ({type(error).__name__}: {error})", event, policy)


def interrupted(event: Event | None, policy: str) -> Reply:
    """The reply where somebody pressed Ctrl-C before there was a decision.

    >>> interrupted(None, "coding_agent").code
    2
    """
    reply = _undecided("microloop hook was interrupted", event, policy)
    return reply if reply.code == REFUSED else reply._replace(code=INTERRUPTED)


def _undecided(what: str, event: Event | None, policy: str) -> Reply:
    """Only a call is ever refused, not a message or the end of a turn."""
    if event is not None and event.kind != "before":
        return Reply(stderr=f"{what}; it took no note of this {event.name}\n", code=_NOTICE)
    if _on_error(policy, event.tool if event is not None else "") == "allow":
        return Reply(stderr=f"{what}; the call runs unchecked, by on_error of the policy\n", code=_NOTICE)
    return Reply(stderr=f"{what}; the call is refused, by on_error of the policy\n", code=REFUSED)


def _on_error(policy: str, tool: str) -> str:
    try:
        from microloop.policy import Policy

        loaded = Policy.load(policy)
        return loaded.on_error_of(tool) if tool else loaded.on_error
    except Exception:  # noqa: BLE001 - where no policy can be read, the call is refused
        return "block"
