"""The native library: that it loads, and that it belongs to this package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from microloop import __version__
from microloop.doctor.finding import Finding, ok, wrong

REINSTALL = "reinstall the package from its checkout: pip install --force-reinstall ."


def examine() -> Iterator[Finding]:
    """Loading it checks its ABI; a fault of that is told by whoever calls."""
    from microloop import _native

    version = _native.ffi.string(_native.lib.microloop_version()).decode()
    place = Path(__file__).parents[1]
    yield ok("library", "package", f"{__version__} ({place})")
    if version == __version__:
        yield ok("library", "native", version)
    else:
        yield wrong("library", "native", f"{version}, but the package is {__version__}", REINSTALL)
    yield ok("library", "abi", str(_native.ABI))
