"""The rules of other agents, rewritten from their public descriptions: one a file, each with its source and version."""

from __future__ import annotations

from evaluate.rule import Rule
from evaluate.rules import browser_use, cline, gemini_cli, goose, opencode, openhands

PUBLISHED: tuple[Rule, ...] = (
    gemini_cli.RULE,
    openhands.RULE,
    goose.RULE,
    cline.RULE,
    opencode.RULE,
    browser_use.RULE,
)
