"""`make bench`: every row in one run, the baselines beside the project's own, each with a proof of what it did."""

import argparse
from pathlib import Path

import groups
import hook
import native
import pages
import report
import size
import startup

FLOORS = ["floor (msgspec)", "floor (orjson)"]
WHOLE = "@guard.verify"
OURS = ("guard", "floor", "observe")
PEERS = ("validators", "agent_os", "agentguard")


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="the Python with the wheel and the peers")
    parser.add_argument("--published", type=Path, required=True, help="the Python with microloop 0.3.0 from PyPI")
    parser.add_argument("--wheel", type=Path, required=True, help="the wheel to weigh")
    parser.add_argument("--rounds", type=int, default=60, help="samples of each row")
    parser.add_argument("--json", type=Path, help="where to keep the numbers")
    parser.add_argument("--write", action="store_true", help="write the figures into the README and the documentation")
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    given = options()
    pythons = dict.fromkeys((*OURS, *PEERS), given.python) | {"published": given.published}
    rows = native.measure() + groups.measure(pythons, given.rounds) + startup.measure(given.python)
    rows += hook.measure(given.python)
    times = report.ratio(rows, FLOORS, WHOLE)
    weight = size.weigh(given.wheel)
    print(report.text(rows, times, given.rounds))
    print(size.sentence(weight))
    if given.json:
        given.json.write_text(report.as_json(rows, times, weight) + "\n", encoding="utf-8")
        print(f"the numbers are in {given.json}")
    if given.write:
        pages.write(rows, times)


if __name__ == "__main__":
    main()
