"""One agent run, judged step by step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from oracle import arguments, detectors, rules
from oracle.budget import Budget
from oracle.counters import Counters
from oracle.identity import call_identity, learned_identity
from oracle.memory import Memory
from oracle.outcomes import outcome
from oracle.policy import Tool
from oracle.verdict import Finding, Verdict, most_severe


@dataclass
class Call:
    """A call whose arguments are JSON and fit the schema."""

    tool: Tool
    args: Any
    identity: str
    learned: str | None
    batch: str | None
    words: Any = None


class Session:
    """`check` before a call, then `record` or `cancel`; `policy` is a resolved policy document."""

    def __init__(self, policy: dict[str, Any], tools: dict[str, Any] | None = None, role: str | None = None) -> None:
        self.policy = policy
        self.declared = tools or {}
        self.role = role
        self.turn_scope = policy.get("loops", {}).get("scope", "turn") == "turn"
        self.budget = Budget(policy.get("budgets", {}))
        self.counters = Counters()
        self.steps = 0
        self.epoch = 0
        self.shift = 0
        self.halted: Verdict | None = None
        self.pending: dict[int, Call] = {}
        self.answered: dict[tuple[str | None, ...], Verdict] = {}

    def check(
        self, name: str, args: Any, call_id: str | None = None, batch: str | None = None, now: int = 0
    ) -> Verdict:
        """The same call id, batch, tool and arguments are the same call: the same verdict, counted once."""
        raw = args if isinstance(args, str) else json.dumps(args)
        key = (batch, call_id, name, raw)
        if call_id is not None and key in self.answered:
            return self.answered[key]
        self.steps += 1
        verdict = self.first_check(name, args, batch, now)
        if call_id is not None:
            self.answered[key] = verdict
        return verdict

    def first_check(self, name: str, args: Any, batch: str | None, now: int) -> Verdict:
        self.counters.text.start_anew()
        if self.halted is not None:
            self.counters.refused += 1
            return self.halted.at_step(self.steps)
        tool = Tool(self.policy, name, self.declared.get(name, {}).get("schema"))
        if rules.role_refuses(self.policy, self.role, tool):
            return self.refuse(Finding("block", "role.denied"))
        value, failure = arguments.read(tool, args)
        invalid = self.counters.invalid[name].judge(tool, failure)
        if invalid is not None:
            return self.refuse(invalid)
        return self.judge(Call(tool, value, call_identity(tool, value), learned_identity(tool, value), batch), now)

    def judge(self, call: Call, now: int) -> Verdict:
        """Rules, batch, budgets, loops: the first that refuses has the word."""
        said = rules.broken(call.tool, call.args)
        if said and said[0].action == "block":
            return self.refuse(said[0])
        if call.batch is not None and (call.batch, call.identity) in self.counters.batches:
            return self.conclude(Finding("block", "call.duplicate"))
        spent = self.budget.judge(call.tool, now)
        if spent is not None:
            for_the_answer = spent.action == "block" and spent.reason in ("budget.tokens", "budget.usd")
            return self.conclude(spent) if for_the_answer else self.refuse(spent)
        return self.judge_loops(call, said, now)

    def judge_loops(self, call: Call, asks: list[Finding], now: int) -> Verdict:
        memory = self.memory(call.identity)
        if memory.flagged and memory.shift != self.shift:
            memory.returned = True
        finding = most_severe(asks + self.loops(call, memory, now))
        if finding is not None and finding.reason in ("loop.repeat", "loop.cycle"):
            memory.flagged = True
        if finding is not None and finding.action in ("block", "halt"):
            return self.refuse_loop(call, finding)
        verdict = self.conclude(finding)
        self.counters.refused = 0
        self.let_through(verdict.step, call, memory, now)
        return verdict

    def refuse_loop(self, call: Call, finding: Finding) -> Verdict:
        for memory in self.memories_of(call):
            memory.refusals += 1
        if finding.reason == "loop.error":
            self.counters.errors[call.tool.name].since_refusal = 0
        return self.refuse(finding)

    def loops(self, call: Call, memory: Memory, now: int) -> list[Finding]:
        """Every detector's opinion, in the order of the contract."""
        polling = detectors.is_polling(call.tool, memory, now)
        near_and_stall = [] if polling else self.near_and_stall(call)
        return [
            *([] if polling else self.counters.cycle(call.tool, call.identity)),
            *([] if polling else detectors.repeat(call.tool, memory, self.epoch, self.shift)),
            *detectors.retry(call.tool, memory, self.epoch, self.shift, now),
            *detectors.poll(call.tool, memory, now),
            *self.counters.errors[call.tool.name].judge(call.tool, self.epoch, self.shift),
            *near_and_stall,
        ]

    def near_and_stall(self, call: Call) -> list[Finding]:
        findings = self.counters.rows[call.tool.name].judge(call.tool, call.identity, call.args)
        if call.learned is None:
            return findings
        memory = self.memory(call.learned)
        return detectors.near(call.tool, memory, self.epoch, self.shift) + findings

    def refuse(self, finding: Finding) -> Verdict:
        """`loop.refused`: refusals in a row, whatever they are for, with nothing let through in between."""
        self.counters.refused += 1
        halt = self.policy.get("loops", {}).get("refused", {}).get("halt")
        if finding.action == "block" and halt is not None and self.counters.refused >= halt:
            return self.conclude(Finding("halt", "loop.refused", halt, self.counters.refused))
        return self.conclude(finding)

    def conclude(self, finding: Finding | None) -> Verdict:
        if finding is None:
            return Verdict(self.steps, "allow", "none")
        verdict = Verdict(self.steps, finding.action, finding.reason, finding.limit, finding.seen, finding.evidence)
        if verdict.action == "halt":
            self.halted = verdict
        return verdict

    def let_through(self, step: int, call: Call, memory: Memory, now: int) -> None:
        memory.last_check = now
        call.words = call.args if self.counters.rows[call.tool.name].keeps_words(call.tool) else None
        for each in self.memories_of(call):
            each.pending += 1
        self.pending[step] = call
        self.budget.charge(step, call.tool, now)
        if call.batch is not None:
            self.counters.batches.add((call.batch, call.identity))

    def memory(self, identity: str) -> Memory:
        if identity not in self.counters.memories:
            self.counters.memories[identity] = Memory(self.epoch, self.shift)
        return self.counters.memories[identity]

    def memories_of(self, call: Call) -> list[Memory]:
        """The call's own, and the one that it shares with all calls that differ in volatile keys only."""
        return [self.memory(identity) for identity in (call.identity, call.learned) if identity is not None]

    def record(self, step: int, text: str, *, failed: bool = False, now: int = 0) -> None:
        call, came_back = self.pending.pop(step), outcome(text, failed=failed)
        memories = self.memories_of(call)
        epoch, shift = self.epoch, self.shift
        novel, changed = not memories[0].succeeded, memories[0].changes(came_back, epoch)
        for memory in memories:
            memory.pending = max(0, memory.pending - 1)
            memory.complete(came_back, step, epoch, shift, now)
        if not failed:
            self.move(call.tool, novel=novel, changed=changed)
        for memory in memories:
            memory.epoch, memory.shift = self.epoch, self.shift
        self.counters.complete(call, came_back, epoch, shift)

    def move(self, tool: Tool, *, novel: bool, changed: bool) -> None:
        """The world is different now, or may be."""
        if novel and tool.effect in ("write", "idempotent"):
            self.epoch += 1
            self.shift += 1
        elif changed or (novel and tool.effect is None):
            self.shift += 1

    def cancel(self, step: int) -> None:
        self.budget.give_back(step)
        for memory in self.memories_of(self.pending.pop(step)):
            memory.pending = max(0, memory.pending - 1)

    def user_turn(self) -> None:
        if self.halted is not None and self.halted.reason.startswith("loop."):
            self.halted = None
        if self.turn_scope:
            self.epoch += 1
            self.shift += 1
            self.counters = Counters()

    def assistant_turn(self, text: str) -> Verdict:
        """A turn takes a step number only if there is something to say about it."""
        return self.between(self.counters.text.turn(text, self.policy.get("loops", {}).get("text", {})))

    def spend(self, **spent: Any) -> Verdict:
        """What the model has spent. As with a turn, a step number only if there is something to say."""
        self.budget.spend(spent)
        return self.between(self.budget.model())

    def between(self, finding: Finding | None) -> Verdict:
        if self.halted is not None:
            self.steps += 1
            return self.halted.at_step(self.steps)
        if finding is None:
            return Verdict(0, "allow", "none")
        self.steps += 1
        return self.conclude(finding)
