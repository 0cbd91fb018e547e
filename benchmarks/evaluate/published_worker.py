"""Runs under the Python that has microloop 0.3.0 from PyPI: one run a line in, the statuses after its steps out."""

import json
import sys

from microloop import Monitor, __version__


def statuses(steps: list[tuple[str, str, dict[str, int]]]) -> list[str]:
    """The status after each step, with the defaults; the action as text and the exit code, as in its documentation."""
    monitor = Monitor()
    return [monitor.observe(action, observation, metrics=metrics).status for action, observation, metrics in steps]


assert __version__ == "0.3.0", __version__
for line in sys.stdin:
    print(json.dumps(statuses(json.loads(line))))
