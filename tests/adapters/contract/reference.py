"""What the guard itself says to a scene: the verdicts that every adapter must come to."""

from __future__ import annotations

from scene import Scene, Turn, Watched, call_id

from microloop import Action


def expected(scene: Scene, policy: object) -> Watched:
    """Plays the scene's calls through a guard by hand, one after the other, until it is halted."""
    guard = Watched(policy)
    functions = {each.__name__: each for each in scene.tools.functions()}
    schema = {"type": "object", "additionalProperties": True}
    for name, function in functions.items():
        guard.tool(name, {**schema, "required": list(function.__annotations__)[:1]})
    with guard.session("reference") as session:
        for number, turn in enumerate(scene.turns):
            if isinstance(turn, str) or not _play(session, functions, number, turn):
                break
    return guard


def _play(session: object, functions: dict[str, object], number: int, turn: Turn) -> bool:
    for place, (name, arguments) in enumerate(turn):
        key = call_id(number, place, same_ids=False)
        verdict = session.check(name, arguments, call_id=key, batch=f"turn-{number}")
        if verdict.action is Action.HALT:
            return False
        if verdict.allowed:
            try:
                session.record(verdict, functions[name](**arguments))
            except OSError as error:
                session.record(verdict, error=error)
    return True
