"""Writes the resolved JSON of every named policy beside this file, for readers without the Python loader."""

from __future__ import annotations

import json
from pathlib import Path

from microloop import Policy
from microloop._policy.names import policy_names

HERE = Path(__file__).resolve().parent


def rendered() -> dict[str, str]:
    """The text of each file."""
    documents = {name: json.loads(Policy.load(name).native_json) for name in policy_names()}
    return {f"{name}.json": json.dumps(each, indent=1, ensure_ascii=False) + "\n" for name, each in documents.items()}


if __name__ == "__main__":
    for name, text in rendered().items():
        (HERE / name).write_text(text, encoding="utf-8")
