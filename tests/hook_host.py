"""A coding agent as the hook sees it: it runs the real command with the payloads in `tests/hook/payloads`."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parent / "hook" / "payloads"
DIALECTS = ("claude-code", "codex", "gemini")


@dataclass(frozen=True)
class Reply:
    """What the command said."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.stdout) if self.stdout else {}

    @property
    def specific(self) -> dict[str, Any]:
        return self.json.get("hookSpecificOutput", {})

    @property
    def denied(self) -> str | None:
        """Why the call is refused; None if it is not."""
        if self.specific.get("permissionDecision") == "deny":
            return self.specific["permissionDecisionReason"]
        return self.json["reason"] if self.json.get("decision") == "deny" else None


def read(dialect: str, name: str) -> dict[str, Any]:
    return json.loads((PAYLOADS / dialect / f"{name}.json").read_text(encoding="utf-8"))


@dataclass
class Host:
    """An agent with its own store."""

    dialect: str
    store: Path
    policy: str = "coding_agent"
    session: str | None = None
    calls: int = field(default=0)

    def command(self) -> list[str]:
        return [sys.executable, "-m", "microloop", "hook", "--policy", self.policy, "--store", str(self.store)]

    def send(self, data: bytes, *options: str) -> Reply:
        done = subprocess.run([*self.command(), *options], input=data, capture_output=True, check=False, timeout=60)
        return Reply(done.returncode, done.stdout.decode(), done.stderr.decode())

    def payload(self, name: str, **changes: Any) -> bytes:
        session = {} if self.session is None else {"session_id": self.session}
        return json.dumps({**read(self.dialect, name), **session, **changes}).encode()

    def payloads(self) -> list[Path]:
        return sorted((PAYLOADS / self.dialect).iterdir())

    def tell(self, name: str, **changes: Any) -> Reply:
        return self.send(self.payload(name, **changes))

    def ids(self) -> dict[str, str]:
        """Gemini CLI has no ids of calls."""
        self.calls += 1
        return {} if self.dialect == "gemini" else {"tool_use_id": f"call {self.calls}"}

    def call(self, command: str = "npm test", *, result: str | None = "1 failing", **changes: Any) -> Reply:
        """A call and, if it may run, its result."""
        ids = {**self.ids(), "tool_input": {"command": command}, **changes}
        reply = self.tell("before", **ids)
        if reply.code == 0 and reply.denied is None and result is not None:
            key = "llmContent" if self.dialect == "gemini" else "stdout"
            after = self.tell("after", **ids, tool_response={key: result})
            assert (after.code, after.stderr) == (0, "")
        return reply
