"""Ctrl-C: how a command ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


def interrupted() -> int:
    """The exit code. A hook has to refuse: nobody has judged the call."""
    from microloop.hook.faults import INTERRUPTED, REFUSED

    if not is_hook():
        return INTERRUPTED
    sys.stderr.write("microloop hook was interrupted; the call is refused\n")
    return REFUSED


def is_hook() -> bool:
    """Whether the command is `microloop hook`."""
    return sys.argv[1:2] == ["hook"]


def end_on_lost_interrupt(lost: UnraisableHookArgs) -> None:
    """Where an object is just being freed, Python would show the interrupt, and go on as if there had been none."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        code = interrupted()
        with suppress(Exception):  # the interrupt may have come in the middle of a write
            sys.stdout.flush()
        os._exit(code)
    sys.__unraisablehook__(lost)
