"""The adapters: which frameworks are here, whether they are new enough, and whether their adapters import."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import microloop.adapters
from microloop.doctor.extras import Need, installed, needs
from microloop.doctor.finding import Finding, ok, wrong

_AREA = "adapters"
_PATIENCE = 120
"""Seconds; the slowest frameworks take some ten to import."""
_MISSING = 3
# What is imported late, too. In a process of its own: frameworks change what imports them, and some never come back.
_IMPORT = f"""
import importlib, importlib.util, json, sys
sys.path[:] = json.loads(sys.argv[1])
from microloop.errors import AdapterError
try:
    adapter = importlib.import_module("microloop.adapters." + sys.argv[2])
    for name in adapter.__all__:
        getattr(adapter, name)
except AdapterError as error:
    sys.exit(str(error))
except ModuleNotFoundError as error:
    if importlib.util.find_spec(error.name.partition(".")[0]) is not None:
        raise
    print(error, file=sys.stderr)
    sys.exit({_MISSING})
"""


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter, and the versions of the packages that it needs; None for one that is not installed."""

    name: str
    versions: dict[str, str | None]
    too_old: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """The packages that are not here."""
        return [package for package, version in self.versions.items() if version is None]

    @property
    def install(self) -> str:
        """The command that installs what it needs."""
        return f"from the checkout: pip install --upgrade '.[{_extra(self.name)}]'"

    def __str__(self) -> str:
        return ", ".join(f"{package} {version}" for package, version in self.versions.items())


def adapters() -> list[Adapter]:
    """Every adapter of this package, in alphabetical order."""
    names = sorted(each.name for each in pkgutil.iter_modules(microloop.adapters.__path__) if each.name[0] != "_")
    declared = needs()
    return [_adapter(name, declared) for name in names]


def _adapter(name: str, declared: list[Need]) -> Adapter:
    found = versions(_extra(name), declared)
    needed = {need.package: need for need in declared if need.extra == _extra(name)}
    too_old = tuple(package for package, version in found.items() if version and not needed[package].fits(version))
    return Adapter(name, found, too_old)


def _extra(adapter: str) -> str:
    return adapter.replace("_", "-")


def versions(extra: str, declared: list[Need]) -> dict[str, str | None]:
    """Of a package that two extras have in different versions, the installed one belongs to the extra that it fits."""
    versions: dict[str, str | None] = {}
    for need in declared:
        if need.extra == extra:
            version = installed(need.package)
            others = [other for other in declared if other.package == need.package]
            theirs = version and not need.fits(version) and any(other.fits(version) for other in others)
            versions[need.package] = None if theirs else version
    return versions


def examine(found: list[Adapter]) -> Iterator[Finding]:
    """Each adapter, in the order in which they are done."""
    for each in found:
        if each.missing:
            yield Finding(_AREA, each.name, "absent", f"{', '.join(each.missing)}: not installed", each.install)
        elif each.too_old:
            # Perhaps another package has brought it: who does not use the adapter has nothing to mend.
            yield Finding(_AREA, each.name, "absent", f"{each}: {', '.join(each.too_old)} is too old", each.install)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        waiting = [pool.submit(_imported, each) for each in found if not (each.missing or each.too_old)]
        try:
            yield from (done.result() for done in as_completed(waiting))
        finally:
            pool.shutdown(cancel_futures=True)  # whoever presses Ctrl-C does not wait for the others


def _imported(adapter: Adapter) -> Finding:
    program = [sys.executable, "-c", _IMPORT, json.dumps(sys.path), adapter.name]
    try:
        done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=_PATIENCE)  # noqa: S603 - ourselves
    except subprocess.TimeoutExpired:
        return wrong(_AREA, adapter.name, f"{adapter}; not imported after {_PATIENCE} seconds", adapter.install)
    if done.returncode == 0:
        return ok(_AREA, adapter.name, str(adapter))
    said = (done.stderr.strip().splitlines() or [f"the import ended with code {done.returncode}"])[-1]
    if done.returncode == _MISSING:
        return Finding(_AREA, adapter.name, "absent", f"{adapter}; {said}", adapter.install)
    return wrong(_AREA, adapter.name, f"{adapter}; {said}", adapter.install)
