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
from microloop.measures import Measures, read
from microloop.policy import Policy
from microloop.standing import Standing
from microloop.watched import Step, watched

if TYPE_CHECKING:
    from microloop.policy import Source

_observe, _observe_measured = lib.microloop_observe, lib.microloop_observe_measured
_TELLING, _ASKS = 0xFF, 0x70
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
            if (
                action.__class__ is observation.__class__ is str
                and metrics is None
                and state is None
                and metadata is None
            ):
                arguments, outcome = encode(action), observation.encode()
                packed = _observe(self.handle, self._text, arguments, len(arguments), TEXT, outcome, len(outcome))
                return self._decision(packed, ()) if packed & _TELLING else Decision(packed >> 8)
        except UnicodeEncodeError:
            pass  # lone surrogates: the longer way puts question marks in their place
        try:
            return self._weigh(self._watched.step(action, observation), read(state, metrics, metadata))
        except Exception as error:  # noqa: BLE001 - whatever the host's values do, its run must not end by our watching
            logger().error("microloop could not read a step", exc_info=error)
            return Decision(unread=("step",))

    def user_turn(self) -> None:
        """The person has spoken: what counts is what comes now. What the checks have seen stays."""
        _native.checked(lib.microloop_turn(self.handle, _USER, b"", 0))

    def _weigh(self, step: Step, measures: Measures) -> Decision:
        index, arguments, kind, outcome, unread = step
        if measures.failed:
            kind, outcome = measures.failure(kind, outcome)
        native = measures.native()
        packed = _observe_measured(
            self.handle, index, arguments, len(arguments), kind, outcome, len(outcome), native[0]
        )
        measures.done(native)
        return self._decision(packed, unread + measures.unread)

    def _decision(self, packed: int, unread: tuple[str, ...]) -> Decision:
        if packed < 0:
            raise _native.failure(packed)
        status, intervention, verified = PARTS[packed & _TELLING]
        decision = Decision(packed >> 8, status, intervention, verified, unread, self)
        if packed & _ASKS:
            decision.evidence  # noqa: B018 - fetched now: whoever intervenes needs it, however much later
        return decision
