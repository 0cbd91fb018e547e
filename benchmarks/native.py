"""The native rows: the core without Python, sampled by its own benchmark program."""

import json
import subprocess
from pathlib import Path

from groups import Measured

WORKSPACE = Path(__file__).parent.parent / "libmicroloop" / "Cargo.toml"
CARGO = ["cargo", "bench", "--quiet", "--locked", "--manifest-path", WORKSPACE, "-p", "microloop-capi"]


def measure() -> list[Measured]:
    """Build and run the benchmark program; return its rows."""
    command = [*CARGO, "--bench", "native", "--", "--json"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [Measured("native", **row) for row in json.loads(told)]
