"""Policies, read once: YAML takes longer than all the rest of the hook, so what it says is kept in the store."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from microloop import __version__

if TYPE_CHECKING:
    from microloop.hook.store import Store
    from microloop.policy import Policy

_SUFFIXES = (".yaml", ".yml", ".json")


class Compiled(NamedTuple):
    """A policy as far as the hook needs it."""

    native: bytes
    mode: str
    slow: tuple[dict[str, Any], ...]


def named(reference: str) -> str:
    """What a policy is called wherever the agent stands: a name as it is, a path from the root.

    >>> named("coding_agent")
    'coding_agent'
    """
    is_path = os.sep in reference or reference.endswith(_SUFFIXES)
    return os.path.abspath(reference) if is_path else reference


def compiled(store: Store, reference: str) -> Compiled:
    """The policy, from the store if none of its files has changed since."""
    kept = store.policy(reference)
    if kept is not None and _fresh(json.loads(kept[0])):
        _, native, mode, slow = kept
        return Compiled(native, mode, tuple(json.loads(slow)))
    return _read(store, reference)


def _read(store: Store, reference: str) -> Compiled:
    from microloop.policy import Policy

    # The stamp first: a file that changes while it is read is read again next time.
    stamp = {"version": __version__, "files": [[path, *_state(path)] for path in _files(reference)]}
    policy = Policy.load(reference)
    read = Compiled(policy.native_json, policy.mode, tuple(_slow_rules(policy)))
    store.keep_policy(reference, json.dumps(stamp), read.native, read.mode, json.dumps(read.slow))
    return read


def _slow_rules(policy: Policy) -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [asdict(rule) for rule in policy.slow_rules]


def _fresh(stamp: dict[str, Any]) -> bool:
    return stamp["version"] == __version__ and all([*_state(path)] == state for path, *state in stamp["files"])


def _state(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)  # a file that is gone differs from one that was there
    return (found.st_mtime_ns, found.st_size)


def _files(reference: str) -> list[str]:
    """The policy's file and those that it extends."""
    from pathlib import Path

    from microloop._policy.extends import MAX_CHAIN, read_reference
    from microloop._policy.names import looks_like_path, shipped
    from microloop._policy.nodes import Mark

    files: list[str] = []
    folder = Path()
    while len(files) <= MAX_CHAIN:  # a longer chain is an error, which loading it explains
        node, origin = read_reference(reference, folder, Mark())
        file = folder / reference if looks_like_path(reference) else shipped() / f"{reference}.yaml"
        files.append(os.path.abspath(str(file)))
        extends = node.child("extends")
        if extends is None or extends.value is None:
            break
        reference, folder = str(extends.value), origin.folder or folder
    return files
