"""Who plays the agent: a scripted chat model without a key or a network, or a real one.

The scripted model is as stubborn as models are: it believes in its query and runs it again. It counts nothing. What it
does next depends on the text that came back, and only a refusal makes it look at the data.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

if TYPE_CHECKING:
    from collections.abc import Sequence

REVENUE = (
    "SELECT SUM(cents) FROM orders JOIN customers ON customers.id = orders.customer "
    "WHERE country = '{country}' AND placed LIKE '2024-%'"
)
COUNTRIES = "SELECT DISTINCT country FROM customers ORDER BY country"


class StubbornAnalyst(BaseChatModel):
    """Answers one question about the shop, and gets stuck on the way."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> StubbornAnalyst:
        """It knows its one tool by heart."""
        del tools
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_next_turn(messages))])


_call_ids = (f"call_{number}" for number in itertools.count(1))


def _query(thought: str, sql: str) -> AIMessage:
    call = {"name": "query_database", "args": {"sql": sql}, "id": next(_call_ids), "type": "tool_call"}
    return AIMessage(thought, tool_calls=[call])


def _next_turn(messages: list[BaseMessage]) -> AIMessage:
    if isinstance(messages[-1], HumanMessage):
        return _query("I sum up the orders from Norway.", REVENUE.format(country="Norway"))
    result = messages[-1].text
    if _is_refusal(result):
        return _query("All right, my query cannot work. Which countries are there at all?", COUNTRIES)
    value = json.loads(result.splitlines()[-1])  # advice, if there is any, stands above the rows
    if value == [[None]]:
        return _query("Nothing? That cannot be. I run it again.", REVENUE.format(country="Norway"))
    codes = [row[0] for row in value]
    if "NO" in codes:
        return _query("They are codes. Norway is NO.", REVENUE.format(country="NO"))
    return AIMessage(f"Our revenue in Norway in 2024 was {codes[0] / 100:.2f} euros.")


def _is_refusal(text: str) -> bool:
    return "was refused" in text.splitlines()[0]


def choose_model() -> BaseChatModel:
    """MODEL=… takes a real model from OpenAI, or from any server that speaks its protocol (OPENAI_BASE_URL)."""
    name = os.environ.get("MODEL")
    if not name:
        return StubbornAnalyst()
    base_url, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
    if not (base_url or key):
        sys.exit("MODEL is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is: the demo cannot reach a model.")
    try:
        from langchain_openai import ChatOpenAI  # noqa: PLC0415  only needed on this path
    except ImportError:
        sys.exit("A real model needs langchain-openai: pip install langchain-openai")
    return ChatOpenAI(model=name, base_url=base_url, api_key=lambda: key or "none", temperature=0)
