"""agent-os-kernel: its hook for tool calls, with an allow list, ten forbidden patterns and a budget of calls."""

import itertools

from agent_os.integrations.base import (
    ExecutionContext,
    GovernancePolicy,
    PatternType,
    PolicyInterceptor,
    ToolCallRequest,
)

import workload
from row import Loop, Row, endless_calls

# Its rules are patterns over the text of all arguments; three patterns stand for our three rules of another kind.
PATTERNS = (*workload.FORBIDDEN_SQL, r"'database': '(?!sales|stock|staff)", r"'limit': (0|-|[5-9]\d\d)", r".{1200}")


class Intercept(Row):
    """One intercepted call that is allowed."""

    name = "agent-os-kernel"
    work = "allow list, ten patterns, call budget: no schema, no loops, no outcome"

    def __init__(self) -> None:
        """Build the interceptor, and the context that counts its calls."""
        self.calls = endless_calls()
        policy = GovernancePolicy(
            name="benchmark",
            allowed_tools=[workload.TOOL],
            blocked_patterns=[(pattern, PatternType.REGEX) for pattern in PATTERNS],
            max_tool_calls=1_000_000_000,
        )
        self.context = ExecutionContext(agent_id="benchmark", session_id="benchmark", policy=policy)
        self.interceptor = PolicyInterceptor(policy, self.context)

    def run(self, operations: int) -> None:
        """Intercept, and count as its adapters do."""
        intercept, context = self.interceptor.intercept, self.context
        for arguments in itertools.islice(self.calls, operations):
            if intercept(ToolCallRequest(workload.TOOL, arguments)).allowed:
                context.call_count += 1

    def verify(self, operations: int) -> None:
        """Fail unless all were allowed, and unless list and patterns are in force."""
        assert self.context.call_count == operations
        intercept = self.interceptor.intercept
        assert not intercept(ToolCallRequest("other_tool", {})).allowed
        assert not intercept(ToolCallRequest(workload.TOOL, {"sql": "DROP TABLE orders"})).allowed
        assert not intercept(ToolCallRequest(workload.TOOL, workload.arguments(1) | {"limit": 900})).allowed


ROWS: list[type[Row]] = [Loop, Intercept]
