"""smolagents: an agent that calls tools, and one that writes code, each behind `guard_agent`."""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

from scene import Finished, Harness, Scene, call_id
from smolagents.memory import ActionStep
from smolagents_model import CodeAgent, Scripted, ToolCallingAgent, agent_of

from microloop import RunHalted
from microloop.adapters.smolagents import guard_agent, unguard_agent


class Smolagents(Harness):
    name = "smolagents"
    modes = ("sync", "stream")
    kind: type = ToolCallingAgent

    def play(self, scene: Scene, mode: str) -> Finished:
        model = Scripted(
            scene.turns,
            usage=scene.tokens,
            ids=lambda turn, place: call_id(turn, place, same_ids=scene.same_ids),
        )
        agent = agent_of(self.kind, model, scene.tools.functions())
        guard_agent(scene.guard, agent)
        if not scene.attached:
            unguard_agent(agent)
        error: Exception | None = None
        with scene.guard.session(scene.run_id) if scene.run_id else contextlib.nullcontext():
            try:
                list(agent.run("find something", stream=True)) if mode == "stream" else agent.run("find something")
            except Exception as raised:  # noqa: BLE001 - whatever ended the run is what the test looks at
                error = raised
        end = "halted" if isinstance(error, RunHalted) else "raised" if error else "finished"
        steps = [step for step in agent.memory.steps if isinstance(step, ActionStep) and not step.is_final_answer]
        return Finished([told for step in steps for told in self.told(step)], model.asked, end, error)

    def told(self, step: Any) -> list[str | None]:
        if step.error is not None:
            return [step.error.message]
        assert len({each.id for each in step.tool_calls}) == len(step.tool_calls)
        return list(step.observations.split("\n")) if len(step.tool_calls) > 1 else [step.observations]


class Code(Smolagents):
    name = "smolagents (code)"
    kind = CodeAgent
    lacks: ClassVar[dict[str, str]] = {
        "identical_calls_of_one_turn_run_once_and_all_are_answered": "calls in code are made one after the other",
    }

    def told(self, step: Any) -> list[str | None]:
        if step.error is not None:
            return [step.error.message]
        logs = step.observations.removeprefix("Execution logs:\n").partition("\nLast output from code snippet:")[0]
        return [logs] if step.code_action.count("print(") == 1 else list(logs.split("\n"))


HARNESSES = [Smolagents(), Code()]
