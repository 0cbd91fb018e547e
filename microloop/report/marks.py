"""Verdicts and statuses as people see them: a word, a sign and a colour. None has to be told by its colour alone."""

from __future__ import annotations

from microloop.report.html import Html, tag

SIGNS = {
    "healthy": "✓",
    "warning": "!",
    "stalled": "↻",
    "regressing": "↘",
    "allow": "✓",
    "warn": "!",
    "ask": "?",
    "block": "✕",
    "halt": "■",
}
WORDS = {
    "allow": "allowed",
    "warn": "would advise",
    "ask": "would ask",
    "block": "would block",
    "halt": "would halt",
}


def mark(name: str, *, more: str = "") -> Html:
    """A verdict or a status."""
    sign = tag("span", SIGNS[name], aria_hidden="true")
    return tag("span", sign, f" {WORDS.get(name, name)}{more}", class_=f"mark {name}")
