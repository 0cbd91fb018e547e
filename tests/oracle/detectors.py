"""The detectors that judge a call by what is remembered of it: repeat, recur, the flag, retry and poll."""

from __future__ import annotations

from oracle.memory import Memory
from oracle.policy import Tool, milliseconds
from oracle.verdict import Finding, met


def known(memory: Memory, epoch: int) -> bool:
    """Whether the memory speaks of this epoch; otherwise nothing is known of this world."""
    return memory.outcome is not None and memory.epoch == epoch


def repeat_count(memory: Memory, epoch: int, shift: int) -> int:
    if not known(memory, epoch):
        return 1
    if memory.shift != shift:
        return memory.pending + 1
    return memory.streak + memory.pending + memory.refusals + 1


def repeat_levels(tool: Tool, memory: Memory) -> dict[str, int | None]:
    succeeded = memory.outcome is not None and not memory.outcome.failed
    return tool.levels("write") if tool.effect == "write" and succeeded else tool.levels("repeat")


def repeat(tool: Tool, memory: Memory, epoch: int, shift: int) -> list[Finding]:
    """The streak, the flag, and the total, in this order."""
    levels = repeat_levels(tool, memory)
    n = repeat_count(memory, epoch, shift)
    evidence = tuple(memory.evidence)
    findings = []
    reached = met(levels, n)
    if reached:
        findings.append(Finding(reached[0], "loop.repeat", reached[1], n, evidence))
    if memory.returned and known(memory, epoch):
        findings.append(flag(levels, memory, n))
    recur = met(tool.levels("recur"), memory.total + memory.pending + 1, only=("warn",))
    if recur and known(memory, epoch):
        findings.append(Finding("warn", "loop.repeat", recur[1], memory.total + memory.pending + 1, evidence))
    return findings


def flag(levels: dict[str, int | None], memory: Memory, n: int) -> Finding:
    """A flagged call that returns is warned at once, and from then on blocked when it reaches the warn level."""
    warn, block = levels.get("warn"), levels.get("block")
    blocks = warn is not None and block is not None and n >= warn
    return Finding("block" if blocks else "warn", "loop.repeat", warn, n, tuple(memory.evidence))


def retry(tool: Tool, memory: Memory, epoch: int, shift: int, now: int) -> list[Finding]:
    """Failures of the same call in one epoch; block and halt only while the shift is the same."""
    if not known(memory, epoch) or memory.fails == 0:
        return []
    findings = []
    n = memory.fails + memory.pending + 1
    levels = ("warn", "block", "halt") if memory.shift == shift else ("warn",)
    if too_soon(tool, memory, now):
        findings.append(Finding("block", "loop.retry"))
    reached = met(tool.levels("retry"), n, only=levels)
    if reached:
        findings.append(Finding(reached[0], "loop.retry", reached[1], n))
    return findings


def too_soon(tool: Tool, memory: Memory, now: int) -> bool:
    backoff = tool.levels("retry").get("backoff")
    if backoff is None:
        return False
    wait = milliseconds(backoff["base"])
    for _ in range(memory.fails - 1):
        wait = wait * backoff.get("factor", 1)
    if "max" in backoff:
        wait = min(wait, milliseconds(backoff["max"]))
    return now - memory.last_failure < wait


def near(tool: Tool, memory: Memory, epoch: int, shift: int) -> list[Finding]:
    """The same call but for keys that look volatile; `memory` is the one that all of these share."""
    only = ("warn", "block", "halt") if tool.effect == "read" else ("warn",)
    n = repeat_count(memory, epoch, shift)
    reached = met(tool.levels("near"), n, only=only)
    return [Finding(reached[0], "loop.near", reached[1], n, tuple(memory.evidence))] if reached else []


def is_polling(tool: Tool, memory: Memory, now: int) -> bool:
    """Whether a declared poll still has time: then repeat, cycle, recur, near and stall do not judge it."""
    if tool.poll is None:
        return False
    deadline = tool.poll.get("deadline")
    return deadline is None or memory.outcome is None or now - memory.since < milliseconds(deadline)


def poll(tool: Tool, memory: Memory, now: int) -> list[Finding]:
    if tool.poll is None or "interval" not in tool.poll or memory.last_check is None:
        return []
    if now - memory.last_check < milliseconds(tool.poll["interval"]):
        return [Finding("warn", "loop.poll")]
    return []
