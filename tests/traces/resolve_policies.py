"""Writes the resolved policy document of every trace to `tests/policies/`, for readers without the Python loader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from microloop import Policy

TRACES = Path(__file__).resolve().parent
POLICIES = TRACES.parent / "policies"


def file_name(policy: str | dict[str, Any]) -> str:
    """A named policy's file has its name; a trace's own policy has a name that begins with `trace-`."""
    name = policy if isinstance(policy, str) else policy["name"]
    if not isinstance(policy, str) and not name.startswith("trace-"):
        raise ValueError(f"the name of a trace's own policy begins with trace-, not {name!r}")
    return f"{name}.json"


def resolved() -> dict[str, str]:
    """The text of each file that belongs into `tests/policies/`."""
    documents: dict[str, str] = {}
    for path in sorted(TRACES.glob("*.json")):
        for trace in json.loads(path.read_text(encoding="utf-8")):
            text = render(trace["policy"])
            known = documents.setdefault(file_name(trace["policy"]), text)
            if known != text:
                raise ValueError(f"two policies have the name {file_name(trace['policy'])}; one is in {path.name}")
    return documents


def render(policy: str | dict[str, Any]) -> str:
    document = json.loads(Policy.load(policy).native_json)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    POLICIES.mkdir(exist_ok=True)
    for name, text in resolved().items():
        (POLICIES / name).write_text(text, encoding="utf-8")
