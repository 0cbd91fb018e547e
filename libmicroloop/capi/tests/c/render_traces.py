"""Render the traces as tab-separated lines for traces.c, so that the C runner needs no JSON parser.

    render_traces.py TRACES_DIR POLICIES_DIR > traces.tsv

A policy that a trace names is read from POLICIES_DIR/NAME.json, as `microloop policy show NAME --json` prints it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TEXT, JSON, ERROR = "0", "1", "2"


class Unrenderable(Exception):
    """A trace that the C runner cannot be given, and why."""


def escape(text: str) -> str:
    """Keep a field on its line: the runner undoes exactly these four."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def line(*fields: str) -> str:
    return "\t".join(escape(field) for field in fields)


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def resolve(policy: Any, policies: Path) -> str:
    if not isinstance(policy, str):
        if "extends" in policy:
            raise Unrenderable("its policy extends another, which only the loader resolves")
        return dump({"version": 1, **policy})
    file = policies / f"{policy}.json"
    if not file.exists():
        raise Unrenderable(f"{file.name} is not there: microloop policy show {policy} --json > {file.name}")
    return dump(json.loads(file.read_text(encoding="utf-8")))


def outcome(step: dict[str, Any]) -> tuple[str, str]:
    if "error" in step:
        return ERROR, step["error"]
    result = step.get("result")
    return (TEXT, result) if isinstance(result, str) else (JSON, dump(result))


def step_line(step: dict[str, Any]) -> str:
    if "user" in step:
        return line("user", step["user"])
    expected = step.get("expect", "")
    expected = expected if isinstance(expected, str) else ",".join(expected)
    if "assistant" in step:
        return line("assistant", step["assistant"], expected)
    args = step.get("args", {})
    text = args if isinstance(args, str) else dump(args)
    ids = (step.get("call_id") or "", str(step.get("batch") or ""))
    at = str(step.get("at", ""))
    return line("call", step["tool"], text, *ids, at, expected, step.get("reason", ""), *outcome(step))


def tools(trace: dict[str, Any]) -> dict[str, dict[str, Any]]:
    names = {step["tool"] for step in trace["steps"] if "tool" in step}
    declared = trace.get("tools") or {}
    return {name: {"name": name, **(declared.get(name) or {})} for name in sorted(names)}


def render(trace: dict[str, Any], policies: Path) -> list[str]:
    lines = [line("trace", trace["name"], resolve(trace["policy"], policies), trace.get("role") or "")]
    lines += [line("tool", name, dump(declaration)) for name, declaration in tools(trace).items()]
    lines += [step_line(step) for step in trace["steps"]]
    bounds = (str(trace.get(key, "")) for key in ("noticed_by", "stopped_by", "never"))
    return [*lines, line("end", *bounds)]


def main(traces: Path, policies: Path) -> None:
    skipped = 0
    for file in sorted(traces.glob("*.json")):
        for trace in json.loads(file.read_text(encoding="utf-8")):
            try:
                print("\n".join(render(trace, policies)))
            except Unrenderable as why:
                skipped += 1
                print(f"skipped {file.name}: {trace['name']}: {why}", file=sys.stderr)
    if skipped:
        print(f"{skipped} traces skipped", file=sys.stderr)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a file, whatever the locale
    main(Path(sys.argv[1]), Path(sys.argv[2]))
