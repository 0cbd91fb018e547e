"""Google ADK: an `LlmAgent` in a runner with `GuardrailPlugin`, or with the callbacks of `guardrail_callbacks`."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from adk_model import ScriptedLlm
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.genai import types
from scene import Finished, Harness, Scene

from microloop.adapters.google_adk import HALTED, GuardrailPlugin, guardrail_callbacks


class ErrorsAsAnswers(BasePlugin):
    """ADK ends a run with the exception of a tool, unless a plugin makes an answer of it."""

    def __init__(self) -> None:
        super().__init__(name="errors")

    async def on_tool_error_callback(self, *, error: Exception, **_: Any) -> dict[str, Any]:
        return {"error": str(error)}


class GoogleAdk(Harness):
    name = "Google ADK"
    modes = ("sync", "async", "stream")
    pauses = True
    warns = (r"\[EXPERIMENTAL\]:UserWarning",)

    def play(self, scene: Scene, mode: str) -> Finished:
        model = ScriptedLlm(turns=list(scene.turns), tokens=scene.tokens, same_ids=scene.same_ids)
        runner = self.runner(scene, model, scene.tools.functions(asynchronous=mode == "async"))
        name = scene.run_id or uuid.uuid4().hex
        asyncio.run(runner.session_service.create_session(app_name="app", user_id="user", session_id=name))
        events = run(runner, mode, name, types.Part(text="find something about cats"))
        if scene.consent is not None:
            events += run(runner, mode, name, _confirmation(events, confirmed=scene.consent))
        return finished(events, model)

    def runner(self, scene: Scene, model: BaseLlm, tools: list[Any]) -> InMemoryRunner:
        plugins = [GuardrailPlugin(scene.guard)] if scene.attached else []
        agent = LlmAgent(name="agent", model=model, tools=tools)
        return InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[*plugins, ErrorsAsAnswers()]))


class GoogleAdkCallbacks(GoogleAdk):
    name = "Google ADK, callbacks"

    def runner(self, scene: Scene, model: BaseLlm, tools: list[Any]) -> InMemoryRunner:
        callbacks: Any = guardrail_callbacks(scene.guard) if scene.attached else {"on_tool_error_callback": None}
        failed = [callbacks.pop("on_tool_error_callback"), lambda error, **_: {"error": str(error)}]
        errors = [each for each in failed if each is not None]
        agent = LlmAgent(name="agent", model=model, tools=tools, on_tool_error_callback=errors, **callbacks)
        return InMemoryRunner(agent=agent, app_name="app")


def _confirmation(events: list[Any], *, confirmed: bool) -> types.Part:
    """What a client of ADK sends when the person has decided."""
    calls = [call for event in events for call in event.get_function_calls()]
    asked = next(call for call in calls if call.name == "adk_request_confirmation")
    return types.Part(
        function_response=types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed})
    )


def run(runner: InMemoryRunner, mode: str, session: str, said: types.Part) -> list[Any]:
    """All events of a run, in each way in which ADK runs one."""
    message = types.Content(role="user", parts=[said])
    given: Any = {"user_id": "user", "session_id": session, "new_message": message}
    if mode == "sync":
        return list(runner.run(**given))
    if mode == "stream":
        given["run_config"] = RunConfig(streaming_mode=StreamingMode.SSE)
    return asyncio.run(_collected(runner.run_async(**given)))


async def _collected(events: Any) -> list[Any]:
    return [event async for event in events]


def finished(events: list[Any], model: ScriptedLlm) -> Finished:
    """Reads a run from its events. Every call is answered exactly once; a pause answers it for the time being."""
    whole = [event for event in events if not event.partial]
    calls = [call for event in whole for call in event.get_function_calls()]
    asked = [call.id for call in calls if call.name != "adk_request_confirmation"]
    answers = [each for event in whole for each in event.get_function_responses()]
    paused = {each for event in whole for each in event.actions.requested_tool_confirmations}
    assert sorted([each.id for each in answers]) == sorted([*asked, *paused])
    told = [str(each.response) for each in answers]
    halted = whole[-1].error_code == HALTED
    return Finished(told, model.asked, "halted" if halted else "finished")


HARNESSES = [GoogleAdk(), GoogleAdkCallbacks()]
