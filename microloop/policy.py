"""`Policy`: the one document that guard, monitor and command line share."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from microloop.given import wrong_type

if TYPE_CHECKING:
    from microloop._policy.loading import Loaded
    from microloop._policy.slow_rule import SlowRule

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Policy"
DEFAULT = "balanced"


class InterventionAction(str, Enum):
    """What the monitor recommends when a run gets nowhere."""

    Observe = "observe"
    Replan = "replan"
    Stop = "stop"

    def __str__(self) -> str:
        return self.value


class Policy:
    """A checked, resolved policy. It does not change after it is made.

    Keyword arguments are the sections of a policy file; what is not given comes from `extends`.

    >>> policy = Policy(stalled=InterventionAction.Replan, cooldown_steps=5, budgets={"calls": 200})
    >>> policy.stalled, policy.document["budgets"]
    (<InterventionAction.Replan: 'replan'>, {'calls': 200})
    """

    __slots__ = ("_document", "_native_json", "_slow_rules")

    def __init__(  # noqa: PLR0913  # one argument for each section of a policy file
        self,
        *,
        extends: str | None = DEFAULT,
        name: str | None = None,
        description: str | None = None,
        mode: str | None = None,
        on_error: str | None = None,
        limits: Mapping[str, Any] | None = None,
        loops: Mapping[str, Any] | None = None,
        tools: Iterable[Mapping[str, Any]] | None = None,
        roles: Mapping[str, Any] | None = None,
        budgets: Mapping[str, Any] | None = None,
        messages: Mapping[str, str] | None = None,
        stalled: InterventionAction | str | None = None,
        regressing: InterventionAction | str | None = None,
        cooldown_steps: int | None = None,
    ) -> None:
        from microloop._policy.loading import load_mapping

        progress = _given(stalled=stalled, regressing=regressing, cooldown_steps=cooldown_steps)
        sections = _given(
            extends=extends,
            name=name,
            description=description,
            mode=mode,
            on_error=on_error,
            limits=limits,
            loops=loops,
            tools=list(tools) if isinstance(tools, Iterable) else tools,
            roles=roles,
            budgets=budgets,
            messages=messages,
            progress=progress or None,
        )
        self._fill(load_mapping({"version": 1, **sections}))

    @classmethod
    def load(cls, source: Source = DEFAULT) -> Policy:
        """A policy from its name, the path of a file, a mapping, or a `Policy` (given back as it is).

        A text is a path if it has a separator or ends in .yaml, .yml or .json; otherwise it is a name.

        >>> Policy.load("observe").mode
        'observe'
        """
        from microloop._policy.loading import load_mapping, load_named, load_path

        if isinstance(source, Policy):
            return source
        if isinstance(source, Mapping):
            return cls._of(load_mapping(source))
        if isinstance(source, str):
            return cls._of(load_named(source))
        if isinstance(source, os.PathLike):
            return cls._of(load_path(Path(source)))
        raise wrong_type("policy", source, "a name, a path, a mapping or a Policy", f'for example "{DEFAULT}"')

    @classmethod
    def _of(cls, loaded: Loaded) -> Policy:
        policy = cls.__new__(cls)
        cls._fill(policy, loaded)
        return policy

    def _fill(self, loaded: Loaded) -> None:
        self._document = loaded.document
        self._native_json = loaded.native_json
        self._slow_rules = loaded.slow_rules

    @property
    def document(self) -> dict[str, Any]:
        """The resolved document, as a copy of its own."""
        return copy.deepcopy(self._document)

    @property
    def native_json(self) -> bytes:
        """The document as the core takes it: nothing to extend, no rule that needs a slow pattern."""
        return self._native_json

    @property
    def slow_rules(self) -> tuple[SlowRule, ...]:
        """Rules that are checked in Python after the core's own."""
        return self._slow_rules

    @property
    def name(self) -> str:
        """What verdicts and reports call it."""
        return str(self._document.get("name", "custom"))

    @property
    def description(self) -> str:
        """What it is for."""
        return str(self._document.get("description", ""))

    @property
    def mode(self) -> str:
        """`enforce` or `observe`."""
        return str(self._document.get("mode", "enforce"))

    @property
    def on_error(self) -> str:
        """`block` or `allow`: what happens to a call when the guard itself fails."""
        return str(self._document.get("on_error", "block"))

    def on_error_of(self, tool: str) -> str:
        """`on_error` for one tool: the last entry that is about it decides."""
        from microloop._policy.globs import matches_any, names_of_entry

        told = [
            entry["on_error"]
            for entry in self._document.get("tools", ())
            if "on_error" in entry and matches_any(names_of_entry(entry), tool)
        ]
        return str(told[-1]) if told else self.on_error

    @property
    def stalled(self) -> InterventionAction:
        """What the monitor recommends for a run that gets nowhere."""
        return self._intervention("stalled")

    @property
    def regressing(self) -> InterventionAction:
        """What the monitor recommends for a run that loses what it had."""
        return self._intervention("regressing")

    @property
    def cooldown_steps(self) -> int:
        """Steps between two recommendations."""
        return int(self._progress().get("cooldown_steps", 0))

    def _intervention(self, status: str) -> InterventionAction:
        return InterventionAction(self._progress().get(status, "observe"))

    def _progress(self) -> Mapping[str, Any]:
        progress: Mapping[str, Any] = self._document.get("progress", {})
        return progress

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._document == other._document

    def __hash__(self) -> int:
        return hash(json.dumps(self._document, sort_keys=True))

    def __repr__(self) -> str:
        return f"<Policy {self.name}>"


def _given(**values: object) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}
