"""A session of the core that goes on where the process before this one left it."""

from __future__ import annotations

import json

from microloop import _native
from microloop._native import lib
from microloop.hook.event import ALLOWED, Decision, Outcome
from microloop.hook.policies import Compiled

_USER, _ASSISTANT = 0, 1
_NOTED = 0x80
_RUNS = ("allow", "warn", "ask")


class HookSession:
    """It lives as long as its process, which is short: nothing of it is freed."""

    def __init__(self, policy: Compiled) -> None:
        self._policy = policy
        self._policy_handle = _native.new_policy(policy.native)
        self._handle = _native.new_session(self._policy_handle, b"")

    def go_on(self, saved: bytes) -> None:
        """From where a saved session stood. SessionError where it cannot: this one is new then."""
        self._handle = _native.load_session(self._policy_handle, saved)

    def check(self, tool: str, arguments: bytes, call_id: str | None) -> tuple[Decision, int]:
        """The decision on a call, and the number of its step."""
        context, kept_alive = _native.context(call_id, None)
        packed = _native.checked(_native.check_named(self._handle, tool, arguments, context))
        del kept_alive
        decision = self._decision(packed)
        if self._policy.slow and decision.action in _RUNS:
            from microloop.hook.slow_rules import judged

            decision = judged(self._policy, tool, arguments, packed >> 8, decision)
            if decision.action not in _RUNS:
                refused = lib.microloop_refuse(self._handle, packed >> 8)
                decision = self._decision(refused) if refused > 0 and refused & _NOTED else decision
        return decision, packed >> 8

    def record(self, step: int, outcome: Outcome) -> None:
        """What came of a step that was let through."""
        _native.checked(lib.microloop_record(self._handle, step, outcome.kind, outcome.data, len(outcome.data)))

    def cancel(self, step: int) -> None:
        """A step that was let through did not come to its end."""
        _native.checked(lib.microloop_cancel(self._handle, step))

    def user_turn(self) -> None:
        """A person has spoken."""
        _native.checked(lib.microloop_turn(self._handle, _USER, b"", 0))

    def assistant_turn(self, text: str) -> Decision:
        """The model has spoken without a call."""
        data = text.encode("utf-8", "replace")
        return self._decision(_native.checked(lib.microloop_turn(self._handle, _ASSISTANT, data, len(data))))

    def save(self) -> bytes:
        """All of it, for the next process."""
        return _native.read(lib.microloop_session_save, self._handle)

    def _decision(self, packed: int) -> Decision:
        if not packed & _NOTED:
            return ALLOWED
        verdict = json.loads(_native.read(lib.microloop_verdict, self._handle, packed >> 8))
        return Decision(verdict["action"], verdict["feedback"])
