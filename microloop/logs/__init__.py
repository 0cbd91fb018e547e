"""Recorded runs, as people have them: one importer for each format, which is found from what the file holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from microloop.given import wrong_type
from microloop.logs import (
    anthropic_messages,
    claude_code,
    codex,
    gemini_cli,
    genai_spans,
    langchain_messages,
    langsmith,
    microloop_lines,
    mini_swe_agent,
    openai_chat,
    openai_responses,
    openhands,
    swe_agent,
)
from microloop.logs.events import Importer
from microloop.logs.files import lines_of
from microloop.logs.utf8 import lines_in_utf8
from microloop.logs.values import Read, Value, read_values
from microloop.recorded import Line

FORMATS: Mapping[str, Importer] = {
    "microloop": microloop_lines,
    "claude-code": claude_code,
    "codex": codex,
    "gemini-cli": gemini_cli,
    "otel": genai_spans,
    "langsmith": langsmith,
    "openhands": openhands,
    "mini-swe-agent": mini_swe_agent,
    "swe-agent": swe_agent,
    "langchain": langchain_messages,
    "openai-responses": openai_responses,
    "anthropic": anthropic_messages,
    "openai": openai_chat,
}
"""The formats, by name. A format that is a special form of another comes before it."""

_LOOKED_AT = 100


def read(source: Iterable[bytes] | str | Path, format: str | None = None) -> Iterator[Line]:  # noqa: A002 - as --format
    """The steps of a recording, given as lines or as a path. What is broken is reported in its place, and skipped.

    Read line by line where the format allows it. Nothing in the data raises; a file that cannot be read does.

    >>> call = b'{"role": "assistant", "tool_calls": [{"id": "7", "function": {"name": "search", "arguments": "{}"}}]}'
    >>> result = b'{"role": "tool", "tool_call_id": "7", "content": "nothing found"}'
    >>> [(step.tool, step.played["result"]) for step in read([call, result])]
    [('search', 'nothing found')]
    """
    values = read_values(_lines(source))
    if format is None:
        format, values = _detected(values)  # noqa: A001 - as above
    if format not in FORMATS:
        raise ValueError(f'there is no format "{format}"; known are {", ".join(FORMATS)}')
    return FORMATS[format].steps(values)


def _lines(source: Iterable[bytes] | str | Path) -> Iterator[bytes]:
    if isinstance(source, (str, Path)):
        return lines_of(Path(source))
    if isinstance(source, Iterable):
        return lines_in_utf8(source)
    raise wrong_type("source", source, "a path, or lines as bytes", 'open a file with "rb"')


def detect(documents: Iterable[Any]) -> str:
    """The name of the format that JSON values are of. What cannot be told is taken for microloop's own.

    >>> detect([{"type": "session_meta", "payload": {"id": "a"}}])
    'codex'
    """
    talk = False
    for document in documents:
        found = _format_of(document)
        if found is not None:
            return found
        talk = talk or openai_chat.is_message(document)
    # Messages without any call look the same in all formats that have a role.
    return "openai" if talk else "microloop"


def _format_of(document: Any) -> str | None:
    return next((name for name, importer in FORMATS.items() if importer.recognises(document)), None)


def _detected(values: Iterator[Read]) -> tuple[str, Iterator[Read]]:
    """The format of a file, and its values: no more are read ahead than are needed to tell."""
    head: list[Read] = []

    def looked_at() -> Iterator[Any]:
        for value in values:
            head.append(value)
            if isinstance(value, Value):
                yield value.data
            if len(head) >= _LOOKED_AT:
                return

    return detect(looked_at()), chain(head, values)
