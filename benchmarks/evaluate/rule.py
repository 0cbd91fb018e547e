"""What is compared: anything that names the first call of a run that would not have been made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from evaluate.corpus import Run, Step

Stop: TypeAlias = "Callable[[Sequence[Step], int], int | None]"
"""The place of the first call that is not made, under a threshold; None if all are."""


class Judge(Protocol):
    """A row of the tables."""

    @property
    def name(self) -> str:
        """What the row is called."""
        ...

    @property
    def does(self) -> str:
        """What happens at a stop: the run ends, the call is refused, a person is asked, or the model is only told."""
        ...

    def stops(self, run: Run) -> int | None:
        """The place of the first call that is not made; None if all are."""
        ...


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of others, with the threshold it is published with."""

    name: str
    stop: Stop
    threshold: int
    does: str
    highest: int = 50
    """The largest threshold that is worth trying."""

    def stops(self, run: Run) -> int | None:
        """As published."""
        return self.stop(run.steps, self.threshold)


@dataclass(frozen=True, slots=True)
class Told:
    """What was found out run by run beforehand, such as in another environment."""

    name: str
    does: str
    places: Mapping[str, int | None]

    def stops(self, run: Run) -> int | None:
        """As it was found."""
        return self.places[run.run_id]


ADVISES = "only advises"
"""Such a row is counted as if the first advice had ended the run; it is compared with its like."""
