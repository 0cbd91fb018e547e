"""The data sets beside the checkout, which are not part of the project."""

import json
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("MICROLOOP_DATA", Path(__file__).parents[2] / "shared" / "data"))


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The rows of a compressed JSON lines file; skips the test where it is absent."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not there; set MICROLOOP_DATA to the folder that has it")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
