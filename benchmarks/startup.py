"""What `import microloop` costs: whole processes with and without it, in turn."""

import subprocess
import time
from pathlib import Path

from groups import Measured

PROMISED_NS = 60_000_000
RUNS = 25
STATEMENTS = ("import microloop", "from microloop import Guardrail")
# What every process has, and what other packages' start-up files bring into it.
OF_NO_CONCERN = {"__main__", "_distutils_hack", "distutils-precedence"}


def process_ns(python: Path, code: str) -> int:
    """Return the nanoseconds of a whole process."""
    began = time.perf_counter_ns()
    subprocess.run([python, "-I", "-c", code], check=True)
    return time.perf_counter_ns() - began


def loaded(python: Path, statement: str) -> str:
    """Return the packages outside the standard library that a statement loads."""
    code = (
        f"import sys\n{statement}\nprint(*sorted({{m.split('.')[0] for m in sys.modules}} - sys.stdlib_module_names))"
    )
    told = subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True).stdout
    return ", ".join(name for name in told.split() if name not in OF_NO_CONCERN)


def measure(python: Path) -> list[Measured]:
    """Return a row for each statement: a process that does it less one that does nothing, in turn."""
    rows = [
        Measured("startup", statement, f"in a new process; loads {loaded(python, statement)}", target=PROMISED_NS)
        for statement in STATEMENTS
    ]
    for _ in range(RUNS):
        empty = process_ns(python, "pass")
        for row in rows:
            row.samples.append(float(process_ns(python, row.name) - empty))
            row.operations += 1
    return rows
