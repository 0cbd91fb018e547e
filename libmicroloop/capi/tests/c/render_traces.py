"""Render the traces as tab-separated lines for traces.c, so that the C runner needs no JSON parser.

    render_traces.py TRACES_DIR POLICIES_DIR > traces.tsv

The keys of a trace are explained in tests/traces/README.md. Policies are read as resolved documents, NAME.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TEXT, JSON, ERROR = "0", "1", "2"


def escape(text: str) -> str:
    """Keep a field on its line: the runner undoes exactly these four."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def line(*fields: str) -> str:
    return "\t".join(escape(field) for field in fields)


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_of(value: Any) -> str:
    """A text goes as it is, everything else as JSON."""
    return value if isinstance(value, str) else dump(value)


def policy_of(trace: dict[str, Any], policies: Path) -> str:
    name = trace["policy"] if isinstance(trace["policy"], str) else trace["policy"]["name"]
    return dump(json.loads((policies / f"{name}.json").read_text(encoding="utf-8")))


def outcome_of(step: dict[str, Any]) -> tuple[str, str]:
    if "error" in step:
        return ERROR, step["error"]
    result = step.get("result")
    return TEXT if isinstance(result, str) else JSON, text_of(result)


def step_line(step: dict[str, Any]) -> str:
    at = str(step.get("at", ""))
    if "user" in step:
        return line("user", at, step["user"])
    expected = step.get("expect", "")
    expected = expected if isinstance(expected, str) else ",".join(expected)
    said = (expected, step.get("reason", ""))
    status = step.get("status", "")
    if "assistant" in step:
        return line("assistant", at, step["assistant"], *said, status)
    if "spend" in step:
        tokens, usd = (step["spend"].get(unit, 0) for unit in ("tokens", "usd"))
        return line("spend", at, str(tokens), *said, str(round(usd * 10**9)))
    ids = (step.get("call_id", ""), step.get("batch", ""))
    return line("call", at, step["tool"], text_of(step.get("args")), *said, *ids, *outcome_of(step), status)


def declarations(trace: dict[str, Any]) -> list[str]:
    names = sorted({step["tool"] for step in trace["steps"] if "tool" in step})
    brought = trace.get("tools") or {}
    return [line("tool", name, dump({"name": name, **brought.get(name, {})})) for name in names]


def render(trace: dict[str, Any], policies: Path) -> list[str]:
    begin = line("trace", trace["name"], policy_of(trace, policies), trace.get("role") or "")
    end = line("end", *(str(trace.get(key, "")) for key in ("noticed_by", "stopped_by", "never")))
    return [begin, *declarations(trace), *map(step_line, trace["steps"]), end]


def main(traces: Path, policies: Path) -> None:
    for file in sorted(traces.glob("*.json")):
        for trace in json.loads(file.read_text(encoding="utf-8")):
            sys.stdout.buffer.write(("\n".join(render(trace, policies)) + "\n").encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
