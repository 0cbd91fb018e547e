"""CrewAI: a crew of one agent in the scope of `GuardrailHooks`, with a model that calls natively or by text."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any, ClassVar

from crewai_model import agent_of, as_tools, crew_of, kickoff, scripted
from scene import Finished, Harness, Scene, Turn, call_id

from microloop import RunHalted
from microloop.adapters.crewai import GuardrailHooks

_FIVE = "CrewAI itself ends a run after five identical calls with one result"

_REPEATED = "CrewAI itself answers a call by text that repeats the one before it, and does not run the tool"


class CrewAI(Harness):
    name = "CrewAI"
    modes = ("sync", "async", "stream")
    warns = (":DeprecationWarning",)
    native = True
    lacks: ClassVar[dict[str, str]] = {"a_detached_adapter_leaves_the_framework_as_it_was": _FIVE}

    def play(self, scene: Scene, mode: str) -> Finished:
        model = scripted(
            self.turns(scene),
            native=self.native,
            usage=scene.tokens,
            ids=lambda turn, place: call_id(turn, place, same_ids=scene.same_ids),
        )
        tools = self.tools(scene, as_tools(scene.tools.functions(asynchronous=mode == "async")))
        agent = agent_of(model, tools)
        crew = crew_of(agent, stream=mode == "stream")
        error: Exception | None = None
        with self.attached(scene), self.named(scene):
            try:
                kickoff(crew, mode)
            except Exception as raised:  # noqa: BLE001 - whatever ended the run is what the test looks at
                error = raised
        end = "halted" if isinstance(error, RunHalted) else "raised" if error else "finished"
        return Finished(self.told(agent.agent_executor.messages), model.asked, end, error)

    def turns(self, scene: Scene) -> list[Turn]:
        return list(scene.turns)

    def tools(self, scene: Scene, tools: list[Any]) -> list[Any]:
        return tools

    def attached(self, scene: Scene) -> Any:
        hooks = GuardrailHooks(scene.guard)
        if scene.attached:
            return hooks.scope()
        hooks.attach()
        hooks.detach()
        return contextlib.nullcontext()

    def named(self, scene: Scene) -> Any:
        return scene.guard.session(scene.run_id) if scene.run_id else contextlib.nullcontext()

    def told(self, messages: list[Any]) -> list[str | None]:
        told: list[str | None] = []
        for place, message in enumerate(messages):
            ids = [call["id"] for call in message.get("tool_calls") or []]
            answers = list(itertools.takewhile(lambda each: each["role"] == "tool", messages[place + 1 :]))
            if ids:
                assert [each["tool_call_id"] for each in answers] == ids
                told += [each["content"] for each in answers]
        return told


class ReAct(CrewAI):
    name = "CrewAI (ReAct)"
    modes = ("sync", "async")
    native = False
    lacks: ClassVar[dict[str, str]] = {
        "a_call_that_repeats_itself_is_advised_then_refused_then_halted": _REPEATED,
        "a_detached_adapter_leaves_the_framework_as_it_was": _REPEATED,
        "call_ids_that_come_again_each_turn_hide_no_loop": "a call that is written as text has no id",
        "identical_calls_of_one_turn_run_once_and_all_are_answered": "a turn that is written as text has one call",
        "the_model_is_not_asked_again_after_a_halt": _REPEATED,
    }

    def turns(self, scene: Scene) -> list[Turn]:
        return [
            part for turn in scene.turns for part in ([turn] if isinstance(turn, str) else [[each] for each in turn])
        ]

    def tools(self, scene: Scene, tools: list[Any]) -> list[Any]:
        return scene.guard.wrap(tools) if scene.attached else tools

    def told(self, messages: list[Any]) -> list[str | None]:
        texts = [str(each["content"]) for each in messages if each["role"] == "assistant"]
        return [text.split("\nObservation: ", 1)[-1] for text in texts if "\nAction: " in text]


HARNESSES = [CrewAI(), ReAct()]
