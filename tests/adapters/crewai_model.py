"""A scripted model of CrewAI, and agents and crews around it that keep to themselves: no telemetry, no files."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any

# Read when CrewAI is imported: nothing is sent anywhere, nothing is asked, and what it stores goes when the tests do.
_FOLDER = tempfile.mkdtemp(prefix="microloop-crewai-")
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
os.environ.update(
    CREWAI_DISABLE_TELEMETRY="true",
    CREWAI_DISABLE_TRACKING="true",
    CREWAI_STORAGE_DIR=_FOLDER,
    CREWAI_TRACING_ENABLED="false",
    OTEL_SDK_DISABLED="true",
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its modules warn of each other while they are imported
    from crewai import Agent, Crew, Task
    from crewai.llms.base_llm import BaseLLM
    from crewai.tools import tool
from pydantic import PrivateAttr  # noqa: E402 - the settings come first

Turn = str | list[tuple[str, Any]]


class Scripted(BaseLLM):
    """Takes its turns from a function of how often it was asked before; native calls or ReAct's text."""

    native: bool = True
    usage: tuple[int, int] = (0, 0)
    _turn: Callable[[int], Turn] = PrivateAttr()
    _id: Callable[[int, int], str] = PrivateAttr()
    _asked: int = PrivateAttr(default=0)
    _heard: list[list[dict[str, Any]]] = PrivateAttr(default_factory=list)

    @property
    def asked(self) -> int:
        return self._asked

    @property
    def heard(self) -> list[list[dict[str, Any]]]:
        """The messages of each time it was asked."""
        return self._heard

    def supports_function_calling(self) -> bool:
        return self.native

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        self._heard.append(messages if isinstance(messages, str) else [dict(each) for each in messages])
        turn, number = self._turn(self._asked), self._asked
        self._asked += 1
        spent, given = self.usage
        if spent + given:
            self._track_token_usage_internal(
                {"prompt_tokens": spent, "completion_tokens": given, "total_tokens": spent + given}
            )
        if isinstance(turn, str):
            return turn if self.native else f"Thought: I know it now\nFinal Answer: {turn}"
        return self._native(number, turn) if self.native else _by_text(turn)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    def _native(self, number: int, turn: list[tuple[str, Any]]) -> list[Any]:
        return [
            {
                "id": self._id(number, place),
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for place, (name, arguments) in enumerate(turn)
        ]


def _by_text(turn: list[tuple[str, Any]]) -> str:
    name, arguments = turn[0]
    return f"Thought: I should look\nAction: {name}\nAction Input: {json.dumps(arguments)}"


def scripted(
    turn: Callable[[int], Turn] | Sequence[Turn],
    *,
    native: bool = True,
    usage: tuple[int, int] = (0, 0),
    ids: Callable[[int, int], str] = lambda turn, place: f"call{turn}.{place}",
) -> Scripted:
    """A model that takes these turns; the last one comes again."""
    model = Scripted(model="scripted", native=native, usage=usage)
    model._turn = turn if callable(turn) else lambda asked: turn[min(asked, len(turn) - 1)]
    model._id = ids
    return model


def agent_of(model: Scripted, tools: Sequence[Any], **options: Any) -> Agent:
    """An agent that looks for things. Without CrewAI's cache, a call that comes again runs again."""
    return Agent(
        role="searcher",
        goal="find things",
        backstory="You look.",
        llm=model,
        tools=list(tools),
        cache=False,
        max_iter=100,
        **options,
    )


def crew_of(agent: Agent, *, tasks: int = 1, **options: Any) -> Crew:
    """A crew of one agent."""
    work = [Task(description=f"find {n}", expected_output="a fact", agent=agent) for n in range(tasks)]
    return Crew(agents=[agent], tasks=work, cache=False, **options)


def as_tools(functions: Sequence[Callable[..., Any]]) -> list[Any]:
    """Functions as CrewAI's own tools."""
    return [tool(each) for each in functions]


def kickoff(crew: Any, mode: str) -> Any:
    """Runs a crew in each of the ways in which one is run."""
    if mode == "async":
        return asyncio.run(crew.akickoff())
    if mode == "stream":
        streaming = crew.kickoff()
        for _ in streaming:
            pass
        return streaming.result
    return crew.kickoff()
