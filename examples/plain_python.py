"""The guard without any framework: a loop of your own that calls tools."""

from __future__ import annotations

from microloop import BlockedCall, Guardrail

guard = Guardrail(policy="balanced")


@guard.verify
def read_sensor(room: str) -> float:
    """Read the temperature of a room, in degrees."""
    return {"kitchen": 21.5, "cellar": 12.0}[room]


def decorated() -> None:
    """A decorated function: a refused call raises, and the text is what a model should read."""
    with guard.session("decorated"):
        for _ in range(6):
            print("  kitchen:", ask_sensor())


def ask_sensor() -> str:
    """What a model would be told: the temperature, or why there is none."""
    try:
        return str(read_sensor("kitchen"))
    except BlockedCall as refused:
        return f"refused ({refused.verdict.reason}): {refused}"


def by_hand() -> None:
    """Check and record by hand: for tools that are dispatched by name."""
    tools = {"add": lambda a, b: a + b}
    with guard.session("by hand"):
        for arguments in [{"a": 1, "b": 2}] * 6:
            verdict = guard.check("add", arguments)
            if verdict.allowed:
                guard.record(verdict, tools["add"](**arguments))
            print(f"  step {verdict.step}: {verdict.action} {verdict.feedback}")


if __name__ == "__main__":
    print("decorated")
    decorated()
    print("by hand")
    by_hand()
