"""Runs under the Python that has microloop 0.3.0 from PyPI: one run a line in, the statuses after its steps out."""

import json
import sys

from microloop import Monitor, __version__


def statuses(steps: list[list[str]]) -> list[str]:
    """The status after each step, with the defaults; the action as text, as its documentation has it."""
    monitor = Monitor()
    return [monitor.observe(action, observation).status for action, observation in steps]


assert __version__ == "0.3.0", __version__
for line in sys.stdin:
    print(json.dumps(statuses(json.loads(line))))
