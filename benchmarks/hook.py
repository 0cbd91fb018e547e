"""What `microloop hook` costs a coding agent around each call: whole processes, beside one that does nothing."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

from groups import Measured

PROMISED_NS = 60_000_000
RUNS = 30
CALL = {"session_id": "run", "tool_name": "Bash", "cwd": "/home/user/app", "permission_mode": "default"}
EVENTS = (("microloop hook, before a call", "PreToolUse"), ("microloop hook, after a call", "PostToolUse"))


def answered_ns(python: Path, store: Path, event: str, number: int) -> float:
    """Return the nanoseconds of a process that answers an event with a plain yes."""
    called = {"tool_use_id": f"call {number}", "tool_input": {"command": f"npm test -- --shard {number}"}}
    came_back = {"tool_response": {"stdout": f"{number} failing", "stderr": ""}} if event == "PostToolUse" else {}
    told = json.dumps({"hook_event_name": event, **CALL, **called, **came_back}).encode()
    began = time.perf_counter_ns()
    done = subprocess.run(
        [python, "-I", "-m", "microloop", "hook", "--store", store], input=told, capture_output=True, check=True
    )
    spent = time.perf_counter_ns() - began
    assert (done.stdout, done.stderr) == (b"", b"")
    return float(spent)


def empty_ns(python: Path) -> float:
    """Return the nanoseconds of a process that does nothing."""
    began = time.perf_counter_ns()
    subprocess.run([python, "-I", "-c", "pass"], capture_output=True, check=True)
    return float(time.perf_counter_ns() - began)


def measure(python: Path) -> list[Measured]:
    """Return the rows, sampled in turn, once the policy is known."""
    rows = [Measured("hook", name, f"a new process: {event}", target=PROMISED_NS) for name, event in EVENTS]
    empty = Measured("hook", "python, doing nothing", "a new process")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite3"
        answered_ns(python, store, "PreToolUse", 0)
        for number in range(1, RUNS + 1):
            empty.samples.append(empty_ns(python))
            for row, (_, event) in zip(rows, EVENTS, strict=True):
                row.samples.append(answered_ns(python, store, event, number))
    for row in (empty, *rows):
        row.operations = RUNS
    return [empty, *rows]
