"""The policies that ship with the package, and where a policy file is looked for."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from microloop._policy.fault import did_you_mean, fault
from microloop._policy.nodes import Mark

if TYPE_CHECKING:
    from importlib.abc import Traversable

_SUFFIXES = (".yaml", ".yml", ".json")
_TRACES = ".traces.yaml"


@cache
def shipped() -> Traversable:
    """The folder of named policies: inside the wheel, or at the top of a checkout."""
    packaged = files("microloop") / "policies"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "policies"


def policy_names() -> list[str]:
    """Every named policy, in alphabetical order."""
    entries = (entry.name for entry in shipped().iterdir())
    return sorted(
        name.removesuffix(".yaml") for name in entries if name.endswith(".yaml") and not name.endswith(_TRACES)
    )


def looks_like_path(reference: str) -> bool:
    """A reference with a separator or a known suffix is a path; anything else is a name."""
    return "/" in reference or "\\" in reference or reference.endswith(_SUFFIXES)


def read_named(name: str) -> tuple[str, str]:
    """Text of a named policy, and what messages call it."""
    return _read_shipped(name, ".yaml")


def read_named_traces(name: str) -> tuple[str, str]:
    """Text of a named policy's traces, and what messages call it."""
    return _read_shipped(name, _TRACES)


def _read_shipped(name: str, suffix: str) -> tuple[str, str]:
    if name not in policy_names():
        hint = did_you_mean(name, policy_names())
        raise fault(f'no policy is named "{name}"; {hint}. A file is given by its path, with .yaml', Mark(), key=name)
    return (shipped() / f"{name}{suffix}").read_text("utf-8"), f"policies/{name}{suffix}"


def read_file(path: Path) -> tuple[str, str]:
    """Text of a policy file, and what messages call it."""
    shown = str(path)
    try:
        return path.read_text("utf-8-sig"), shown
    except FileNotFoundError:
        raise fault(
            "there is no such file; check the path, or see the names in `microloop policy list`", Mark(shown)
        ) from None
    except UnicodeDecodeError as error:
        raise fault(f"not UTF-8 at byte {error.start}; save the file as UTF-8", Mark(shown)) from None
    except OSError as error:
        raise fault(f"cannot be read: {error.strerror}", Mark(shown)) from None
