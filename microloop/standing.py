"""`Standing`: where one run stands, for whoever asks between two steps."""

from __future__ import annotations

import msgspec

from microloop import _native
from microloop._native import lib
from microloop.decision import NOTHING, Decision, Report, Status
from microloop.errors import SessionError

_decode = msgspec.json.Decoder(Report).decode
_LATEST = 0


class Standing:
    """Where one run stands. `Session.monitor` is that of a guarded run, and a `Monitor` is its own.

    >>> from microloop import Guardrail
    >>> session = Guardrail().session("run-7")
    >>> for _ in range(5):
    ...     verdict = session.check("ls", {})
    ...     if verdict.allowed:
    ...         session.record(verdict, "a.txt and nothing else")
    >>> str(session.monitor.status)
    'stalled'
    """

    __slots__ = ("__weakref__", "_owner", "handle")

    def __init__(self, handle: int, owner: object = None) -> None:
        self.handle = handle
        self._owner = owner
        """Whoever would free the native session if it were gone."""

    @property
    def status(self) -> Status:
        """Where the run stands."""
        return self.latest.status

    @property
    def latest(self) -> Decision:
        """The decision after the latest step, with its evidence."""
        told = _decode(_native.read(lib.microloop_progress, self.handle, _LATEST))
        return Decision(told.step, told.status, told.intervention, told.verified_progress, (), self, told)

    def report(self, step: int) -> Report:
        """The evidence of an earlier step, as long as the run keeps it."""
        try:
            return _decode(_native.read(lib.microloop_progress, self.handle, step))
        except SessionError:
            return NOTHING  # too long ago, or the run is over
