"""`Monitor`: is this run still getting anywhere?"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from microloop import _native
from microloop._native import lib
from microloop.decision import PARTS, Decision
from microloop.encoding import TEXT, encode
from microloop.log import logger
from microloop.measures import crossing, told, unread
from microloop.policy import Policy
from microloop.standing import Standing
from microloop.watched import watched

if TYPE_CHECKING:
    from microloop.policy import Source

_observe, _observe_measured = lib.microloop_observe, lib.microloop_observe_measured
_TELLING, _ASKS, _UNREAD = 0xFF, 0x70, 0x08
_USER = 0


class Monitor(Standing):
    """Reads the steps of one run, and says after each whether the run is still getting anywhere.

    By default it only watches; `policy` says what to recommend. One monitor is one run: make another for the next. Any
    thread may use it.

    >>> from microloop import InterventionAction
    >>> monitor = Monitor(policy=Policy(stalled=InterventionAction.Replan))
    >>> decisions = [monitor.observe("ls", "a.txt and nothing else") for _ in range(5)]
    >>> [str(each.status) for each in decisions]
    ['healthy', 'healthy', 'warning', 'warning', 'stalled']
    >>> decisions[-1].should_intervene, decisions[-1].reasons
    (True, ('loop.repeat',))
    """

    __slots__ = ("_text", "_watched", "policy")

    def __init__(self, policy: Source = "balanced") -> None:
        self.policy = Policy.load(policy)
        self._watched = watched(self.policy)
        self._text = self._watched.text
        super().__init__(_native.new_session(self._watched.handle, b""))
        weakref.finalize(self, lib.microloop_session_free, self.handle)

    def observe(
        self,
        action: object,
        observation: object = None,
        *,
        state: object = None,
        metrics: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Takes a step that has run, and says where the run stands now. It takes any value and raises on none.

        `action` is a text, or a mapping with `tool` and `arguments`; `observation` is what came back. `state` is what
        the world looks like afterwards. `metrics`: `exit_code`, `failures` (how many), `success`, `score` (more is
        better); any other number belongs to the state. `metadata`: `verifier` names the check that was run,
        `verification_id` this very run of it, `error` says that the step failed, and how.
        """
        try:
            # Most steps are two texts: the shortest way is theirs.
            if action.__class__ is observation.__class__ is str:
                arguments, outcome = encode(action), observation.encode()
                if metrics is None and metadata is None and state is None:
                    packed = _observe(self.handle, self._text, arguments, len(arguments), TEXT, outcome, len(outcome))
                elif known := told(state, metrics, metadata):
                    packed = _observe_measured(
                        self.handle,
                        self._text,
                        arguments,
                        len(arguments),
                        TEXT,
                        outcome,
                        len(outcome),
                        known,
                        len(known),
                    )
                else:
                    packed = _native.NOT_JSON
                if not packed & _TELLING:
                    return Decision(packed >> 8)
                if packed >= 0:
                    return self._decision(packed, unread(metrics, metadata) if packed & _UNREAD else ())
        except UnicodeEncodeError:
            pass  # lone surrogates: the longer way puts question marks in their place
        return self._observe_any(action, observation, state, metrics, metadata)

    def user_turn(self) -> None:
        """The person has spoken: what counts is what comes now. What the checks have seen stays."""
        _native.checked(lib.microloop_turn(self.handle, _USER, b"", 0))

    def _observe_any(
        self, action: object, observation: object, state: object, metrics: object, metadata: object
    ) -> Decision:
        try:
            index, arguments, kind, outcome, odd = self._watched.step(action, observation)
            step = (self.handle, index, arguments, len(arguments), kind, outcome, len(outcome))
            status = crossing(lambda known: _observe_measured(*step, known, len(known)), state, metrics, metadata)
            packed = _native.checked(status)
            return self._decision(packed, odd + unread(metrics, metadata) if packed & _UNREAD else odd)
        except Exception as error:  # noqa: BLE001 - whatever the host's values do, its run must not end by our watching
            logger().error("microloop could not read a step", exc_info=error)
            return Decision(unread=("step",))

    def _decision(self, packed: int, unread: tuple[str, ...]) -> Decision:
        status, intervention, verified = PARTS[packed & _TELLING]
        decision = Decision(packed >> 8, status, intervention, verified, unread, self)
        if packed & _ASKS:
            decision.evidence  # noqa: B018 - fetched now: whoever intervenes needs it, however much later
        return decision
