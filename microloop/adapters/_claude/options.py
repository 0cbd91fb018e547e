"""`guarded_options`: the guard in the options of an agent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from microloop.adapters._claude.hooks import Hooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from microloop.guardrail import Guardrail
    from microloop.verdict import Verdict


def guarded_options(
    guard: Guardrail,
    options: ClaudeAgentOptions | None = None,
    *,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> ClaudeAgentOptions:
    """Options in whose hooks the guard checks each tool call before it runs, and records what came of it.

    The hooks and all else that the options have are kept. A refused call is denied with the feedback as the reason;
    advice is shown to the model beside the result. When the run is halted, Claude Code answers every call of the turn
    and ends the run before the model is asked again. Calls that need consent are asked for by `can_use_tool` or the
    prompt of Claude Code, unless the guard has an `ask` of its own. `on_verdict` is told of every verdict.
    """
    options = options or ClaudeAgentOptions()
    hooks: dict[Any, list[HookMatcher]] = {event: list(have) for event, have in (options.hooks or {}).items()}
    for event, matcher in _matchers(Hooks(guard, on_verdict)).items():
        hooks.setdefault(event, []).append(matcher)
    return replace(options, hooks=hooks)


def _matchers(hooks: Hooks) -> dict[str, HookMatcher]:
    return {
        "UserPromptSubmit": HookMatcher(hooks=[hooks.user_prompt_submit]),
        # By default Claude Code runs a tool whose hook failed, or was not answered in time.
        "PreToolUse": HookMatcher(hooks=[hooks.pre_tool_use], on_failure="block"),
        "PostToolUse": HookMatcher(hooks=[hooks.post_tool_use]),
        "PostToolUseFailure": HookMatcher(hooks=[hooks.post_tool_use_failure]),
        "PostToolBatch": HookMatcher(hooks=[hooks.post_tool_batch]),
        "Stop": HookMatcher(hooks=[hooks.stop]),
    }
