"""What a session and a tool may spend. Only calls that get through are charged."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from oracle.policy import Tool, milliseconds
from oracle.verdict import Finding, most_severe

MINUTE = 60_000


class Budget:
    """Every charge, with its time: the sums are counted anew at each check. The session begins at 0."""

    def __init__(self, limits: dict[str, Any]) -> None:
        self.limits = limits
        self.charges: dict[int, tuple[str, int]] = {}
        self.spent = {"tokens": Decimal(0), "usd": Decimal(0)}

    def judge(self, tool: Tool, now: int) -> Finding | None:
        own = tool.fields.get("limit", {})
        mine = [at for name, at in self.charges.values() if name == tool.name]
        every = [at for _, at in self.charges.values()]
        findings = [
            self.time(now),
            over("halt", "budget.calls", self.limits.get("calls"), len(every)),
            self.model(),
            *(self.wrap_up(unit) for unit in self.spent),
            over("block", "budget.rate", self.limits.get("per_minute"), recent(every, now)),
            over("block", "budget.tool", own.get("calls"), len(mine)),
            over("block", "budget.rate", own.get("per_minute"), recent(mine, now)),
        ]
        return most_severe([finding for finding in findings if finding])

    def time(self, now: int) -> Finding | None:
        wall_time = self.limits.get("wall_time")
        if wall_time is None or now < milliseconds(wall_time):
            return None
        return Finding("halt", "budget.time")

    def spend(self, spent: dict[str, Any]) -> None:
        for unit, amount in spent.items():
            self.spent[unit] += Decimal(str(amount))

    def model(self) -> Finding | None:
        """The budget of the model that is spent to the end."""
        return most_severe([found for unit in self.spent if (found := self.reaches("halt", unit, Decimal(1)))])

    def wrap_up(self, unit: str) -> Finding | None:
        """The last part of what the model may spend is for the answer."""
        return self.reaches("block", unit, 1 - Decimal(str(self.limits.get("wrap_up", 0.1))))

    def reaches(self, action: str, unit: str, share: Decimal) -> Finding | None:
        limit, spent = self.limits.get(unit), self.spent[unit]
        if limit is None or spent < Decimal(str(limit)) * share:
            return None
        return Finding(action, f"budget.{unit}", limit, float(spent))

    def charge(self, step: int, tool: Tool, now: int) -> None:
        self.charges[step] = (tool.name, now)

    def give_back(self, step: int) -> None:
        """What was cancelled has cost nothing."""
        del self.charges[step]


def over(action: str, reason: str, limit: int | None, spent: int) -> Finding | None:
    if limit is None or spent < limit:
        return None
    return Finding(action, reason, limit)


def recent(times: list[int], now: int) -> int:
    return sum(1 for at in times if now - at < MINUTE)
