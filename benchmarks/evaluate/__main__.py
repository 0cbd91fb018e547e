"""How good the detectors are on real runs, beside what others do.

    make evaluate [JSON=file] [EVALUATE_ARGS=--write]

A run succeeded if its own source says so. A step is saved if it comes at or after the first stop of a run that failed;
what that costs is told by the successful runs that are stopped. InterCode stands apart: see `corpus.Run.apart`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evaluate import corpus, machine, page, tables
from evaluate.findings import find

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> None:
    """Measure, and write down what was found."""
    options = _options()
    if not (options.data / "runs.jsonl.xz").exists():
        sys.exit(f"{options.data} has no runs.jsonl.xz: give the folder of the recorded runs with --data")
    found = find(corpus.read(options.data), options.published)
    text = tables.text(found)
    print(text)
    if options.json:
        options.json.write_text(machine.as_json(found) + "\n", encoding="utf-8")
    if options.write:
        page.write(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="evaluate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=_DATA, help="folder of runs.jsonl.xz and steps.jsonl.xz")
    parser.add_argument("--published", type=Path, help="the Python that has microloop 0.3.0 from PyPI")
    parser.add_argument("--json", type=Path, help="where to keep the numbers")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {page.PAGE.name}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
