"""microloop: a guard for the tool calls of AI agents. It decides before every call, and watches what came back.

>>> from microloop import Guardrail
>>> guard = Guardrail(policy="strict_loop_detection")
>>> verdict = guard.check("search", {"q": "cats"})
>>> verdict.allowed
True
>>> guard.record(verdict, "three results")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microloop.coverage import Covered
    from microloop.decision import Decision, Status
    from microloop.errors import (
        AdapterError,
        BlockedCall,
        MicroloopError,
        NativeError,
        PolicyError,
        Refused,
        RunHalted,
        SessionError,
    )
    from microloop.guardrail import Guardrail
    from microloop.monitor import Monitor
    from microloop.policy import InterventionAction, Policy
    from microloop.session import Session
    from microloop.verdict import Action, Verdict

__all__ = [
    "Action",
    "AdapterError",
    "BlockedCall",
    "Covered",
    "Decision",
    "Guardrail",
    "InterventionAction",
    "MicroloopError",
    "Monitor",
    "NativeError",
    "Policy",
    "PolicyError",
    "Refused",
    "RunHalted",
    "Session",
    "SessionError",
    "Status",
    "Verdict",
    "__version__",
]

__version__ = "0.1.0"

# What each public name costs to import is paid by those who use it.
_HOMES = {
    "Action": "verdict",
    "AdapterError": "errors",
    "BlockedCall": "errors",
    "Covered": "coverage",
    "Decision": "decision",
    "Guardrail": "guardrail",
    "InterventionAction": "policy",
    "MicroloopError": "errors",
    "Monitor": "monitor",
    "NativeError": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "Refused": "errors",
    "RunHalted": "errors",
    "Session": "session",
    "SessionError": "errors",
    "Status": "decision",
    "Verdict": "verdict",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
