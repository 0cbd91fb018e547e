"""A monitor, step by step: this project's, or that of microloop 0.3.0, whichever the environment has."""

import itertools
from importlib.metadata import version

from microloop import Monitor
from row import Row
from traffic import EXPECTED, TRAFFIC

WHOSE = "" if version("microloop") != "0.3.0" else " (0.3.0)"


class Steps(Row):
    """The steps alone: what it costs to make them is no part of the work."""

    minus = None
    traffic = ""

    def __init__(self) -> None:
        """Begin the run."""
        self.steps = TRAFFIC[self.traffic]()

    def run(self, operations: int) -> None:
        """Take that many steps and drop them."""
        for action, observation, known in itertools.islice(self.steps, operations):
            _ = action, observation, known

    def verify(self, operations: int) -> None:
        """Fail if there are no steps."""
        assert operations > 0
        assert len(next(self.steps)) > 0


class Observe(Steps):
    """The monitor that reads them."""

    tails = True

    def __init__(self) -> None:
        """Build the monitor with its defaults."""
        super().__init__()
        self.monitor = Monitor()
        self.last = None

    def run(self, operations: int) -> None:
        """Observe that many steps."""
        observe, decision = self.monitor.observe, self.last
        for action, observation, known in itertools.islice(self.steps, operations):
            # As a host writes it: with keywords only where there is something to tell.
            decision = observe(action, observation, **known) if known else observe(action, observation)
        self.last = decision

    def verify(self, operations: int) -> None:
        """Fail unless every step was counted, and unless the run stands where its name says."""
        statuses, verified = EXPECTED[self.traffic]
        assert self.last.step == operations, (self.last, operations)
        assert str(self.last.status) in statuses, self.last
        assert self.last.verified_progress is verified, self.last


def pair(traffic: str) -> list[type[Row]]:
    """Return the two rows of one traffic."""
    alone = f"loop, {traffic}{WHOSE}"
    work = f"one step of a run that is {traffic}" if traffic != "16 KiB" else "one step with an output of 16 KiB"
    steps = type("Steps", (Steps,), {"name": alone, "work": "the steps", "traffic": traffic})
    row = {"name": f"observe, {traffic}{WHOSE}", "work": work, "traffic": traffic, "minus": alone}
    return [steps, type("Observe", (Observe,), row)]


ROWS: list[type[Row]] = [row for traffic in TRAFFIC for row in pair(traffic)]
