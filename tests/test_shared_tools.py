"""Real tool definitions and the calls that were made of them."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from microloop import Guardrail, PolicyError
from shared_data import rows

pytestmark = [pytest.mark.shared, pytest.mark.slow]

NO_RULES = {"version": 1, "name": "schemas alone"}
A_POLICY_HOLDS = 1000


def in_parts(tools: list[dict[str, Any]]) -> Iterator[tuple[Guardrail, list[dict[str, Any]]]]:
    for start in range(0, len(tools), A_POLICY_HOLDS):
        yield Guardrail(NO_RULES), tools[start : start + A_POLICY_HOLDS]


def declared(guard: Guardrail, tool: dict[str, Any]) -> PolicyError | None:
    try:
        guard.tool(tool["name"], tool["input_schema"])
    except PolicyError as error:
        return error
    return None


def test_every_real_schema_compiles_or_is_refused_with_the_place_that_is_wrong() -> None:
    tools = list(rows("tools.jsonl.xz"))
    refused = [(tool, error) for guard, part in in_parts(tools) for tool in part if (error := declared(guard, tool))]
    for tool, error in refused:
        assert " at /" in str(error), error
        with pytest.raises(jsonschema.SchemaError):
            jsonschema.Draft202012Validator.check_schema(tool["input_schema"])
    assert len(refused) < len(tools) / 100, f"{len(tools) - len(refused)} of {len(tools)} schemas compile"


def test_gold_calls_are_accepted_and_those_refused_do_break_their_schema() -> None:
    tools = {tool["id"]: tool for tool in rows("tools.jsonl.xz")}
    gold = [call for call in rows("calls.jsonl.xz") if call["label"] == "ok"]
    refused = []
    for call in gold:
        tool = tools[call["tool"]]
        guard = Guardrail(NO_RULES)
        guard.tool(tool["name"], tool["input_schema"])
        if not guard.check(tool["name"], call["arguments"]).allowed:
            refused.append((call, tool))
    for call, tool in refused:
        assert not jsonschema.Draft202012Validator(tool["input_schema"]).is_valid(call["arguments"]), call["id"]
    accepted = len(gold) - len(refused)
    assert accepted >= 0.97 * len(gold), f"{accepted} of {len(gold)} gold calls accepted"
