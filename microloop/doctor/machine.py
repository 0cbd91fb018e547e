"""The Python and the system that microloop runs on."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

from microloop.doctor.finding import Finding, ok, wrong

OLDEST = (3, 10)


def examine() -> Iterator[Finding]:
    """Python, and the platform."""
    version = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    if sys.version_info < OLDEST:
        needed = ".".join(map(str, OLDEST))
        yield wrong("machine", "python", version, f"install microloop under Python {needed} or newer")
    else:
        yield ok("machine", "python", version)
    yield ok("machine", "platform", platform.platform())
