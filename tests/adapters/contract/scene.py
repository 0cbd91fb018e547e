"""What one test of the contract sets up, and what it finds afterwards. Each adapter has a harness that plays scenes.

A harness builds the framework's own agent with a scripted model, attaches the adapter in its documented way, and runs.
Nothing of the framework is mocked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from workshop import Workshop

from microloop import Guardrail
from microloop.verdict import Verdict

Turn = str | list[tuple[str, dict[str, Any]]]
"""What the model does when it is asked: a text to finish with, or calls, in parallel if there are several."""


class Watched(Guardrail):
    """A guard that keeps its verdicts for the test."""

    def __init__(self, policy: Any = "balanced", **options: Any) -> None:
        super().__init__(policy, **options)
        self.verdicts: list[Verdict] = []

    def judge(self, *args: Any, **kwargs: Any) -> Verdict:
        verdict = super().judge(*args, **kwargs)
        self.verdicts.append(verdict)
        return verdict

    @property
    def told(self) -> list[str]:
        """`action reason` of each verdict."""
        return [f"{each.action} {each.reason}" for each in self.verdicts]


@dataclass(frozen=True, slots=True)
class Scene:
    """A run that is to be played. Turn n of the model is `turns[n]`; the last one comes again."""

    turns: Sequence[Turn]
    guard: Watched
    tools: Workshop
    run_id: str | None = None
    """The framework's own id of the run, thread or session, where the caller chooses one."""
    same_ids: bool = False
    """Whether each turn uses the call ids of the turn before, as small models do."""
    tokens: tuple[int, int] = (0, 0)
    """Input and output tokens that the model reports for each turn."""
    retries: bool = False
    """Whether the framework is told to repeat a tool call that failed."""
    consent: bool | None = None
    """What a person answers when the framework pauses the run to ask them; None if nobody is to be asked by a pause."""
    attached: bool = True
    """Whether the adapter stays attached; else it is attached and detached again before the run."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run ended.

    `told` is what the model was told of each call that it made, in the order of its calls (for a parallel turn: of the
    calls in the turn); calls that were left without an answer are None. `asked` counts how often the model was asked.
    """

    told: list[str | None]
    asked: int
    end: Literal["finished", "halted", "raised"]
    error: BaseException | None = None


class Harness(ABC):
    """Plays scenes in one framework."""

    name: str
    """The adapter as the table in the documentation calls it."""
    modes: tuple[Literal["sync", "async", "stream"], ...]
    """The ways in which the framework runs an agent."""
    lacks: ClassVar[dict[str, str]] = {}
    """Cases of the contract that the framework itself makes impossible, with the reason for the table."""
    warns: ClassVar[tuple[str, ...]] = ()
    """What the framework's own code warns of, as `message:category` of a filter; all other warnings are errors."""

    pauses: bool = False
    """Whether the framework can pause a run to ask a person, and go on with it later: it does for `Scene.consent`."""
    repeats: bool = False
    """Whether the framework can repeat a failed tool call by itself: it does for `Scene.retries`."""

    @abstractmethod
    def play(self, scene: Scene, mode: str) -> Finished:
        """Runs the scene to its end. Exceptions of the run are caught and put into `Finished.error`."""


def call_id(turn: int, place: int, *, same_ids: bool) -> str:
    """The id of a call of the scripted model."""
    return f"call.{place}" if same_ids else f"call{turn}.{place}"


def turn_of(scene: Scene, asked: int) -> Turn:
    """What the model does when it is asked for the time number `asked`, from 0."""
    return scene.turns[min(asked, len(scene.turns) - 1)]
