"""From an event to a decision: the session is brought back, told of the event, and saved, all in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from microloop.errors import SessionError
from microloop.hook.event import ALLOWED, Decision, Event
from microloop.hook.policies import compiled
from microloop.hook.session import HookSession
from microloop.hook.store import Key, Store

if TYPE_CHECKING:
    from microloop.hook.dialects import Dialect


def respond(store: Store, event: Event, policy: str, dialect: Dialect, notice: Callable[[str], None]) -> Decision:
    """The decision on an event. `notice` is told what the person should know."""
    if event.kind in ("begins", "ends"):
        with store.alone():
            store.forget(event.session)
        return ALLOWED
    session, key = HookSession(compiled(store, policy)), Key(event.session, event.agent, policy)
    with store.alone():
        new = not _goes_on(store, key, session, notice)
        decision = _tell(store, key, session, event, late=dialect.advises_late)
        store.save(key, session.save(), new=new)
    return decision


def _goes_on(store: Store, key: Key, session: HookSession, notice: Callable[[str], None]) -> bool:
    saved = store.saved(key)
    if saved is None:
        return False
    try:
        session.go_on(saved)
    except SessionError as error:
        notice(f"the session begins anew: {error}")
        store.begin_anew(key)
        return False
    return True


def _tell(store: Store, key: Key, session: HookSession, event: Event, *, late: bool) -> Decision:
    if event.kind == "before":
        return _before(store, key, session, event, late=late)
    if event.kind == "after":
        return _after(store, key, session, event)
    if event.kind == "prompt":
        session.user_turn()
        return ALLOWED
    return session.assistant_turn(event.text)


def _before(store: Store, key: Key, session: HookSession, event: Event, *, late: bool) -> Decision:
    decision, step = session.check(event.tool, event.arguments, event.call_id)
    if decision.action in ("block", "halt"):
        return decision
    advice = decision.feedback if late and decision.action == "warn" else ""
    store.open_call(key, step, _call(event), advice)
    return ALLOWED if advice else decision


def _after(store: Store, key: Key, session: HookSession, event: Event) -> Decision:
    call = store.close_call(key, _call(event))
    if call is None:
        return ALLOWED  # it was never asked about, was refused, or has come back before
    if event.outcome is None:
        session.cancel(call.step)
    else:
        session.record(call.step, event.outcome)
    return Decision("warn", call.advice) if call.advice else ALLOWED


def _call(event: Event) -> str:
    """What a call is found by when it comes back: the agent's id, else what was called, the oldest first."""
    if event.call_id is not None:
        return f"id {event.call_id}"
    from hashlib import blake2b

    called = event.tool.encode("utf-8", "replace") + b"\0" + event.arguments
    return f"call {blake2b(called, digest_size=16).hexdigest()}"
