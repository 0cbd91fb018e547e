"""How a call is answered over MCP: with a result that is marked as an error, and carries the verdict in its `_meta`."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from microloop.adapters._gate.shown import SchemaGate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from microloop.adapters._gate.calls import Call, Entry

MARK = "microloop"
"""Where the verdict is found in the `_meta` of a result."""


class McpGate(SchemaGate):
    """A gate whose tools are known by the schemas in a listing."""

    @abstractmethod
    def asks(self, result: Any) -> bool:
        """Whether a result asks the client for input, so that the same call comes again with the answer."""

    async def acall(
        self,
        name: str,
        look: Callable[[], Awaitable[None]],
        find: Callable[[], Call],
        execute: Callable[[], Awaitable[Any]],
    ) -> Any:
        """`arun` of a call that may be the first that is seen of its tool. `look` then declares the tool."""
        problem = await self._problem(name, look)

        def found() -> Call:
            if problem is not None:
                raise problem
            return find()

        return await self.arun(name, None, found, execute)

    async def _problem(self, name: str, look: Callable[[], Awaitable[None]]) -> Exception | None:
        if name in self._declared:
            return None
        try:
            await look()
        except Exception as error:  # noqa: BLE001 - raised again where `on_error` decides about the call
            return error
        return None

    def done(self, entry: Entry, result: Any) -> Any:
        """Records a result; a question to the client is none, and the call with the answer is the one that counts."""
        if not self.asks(result):
            return super().done(entry, result)
        self.abandon(entry)
        return result


def marked(entry: Entry, meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The `_meta` of a result that the guard has a say in. What another guard, nearer to the tool, has said stays."""
    return {MARK: entry.verdict.as_dict(), **(meta or {})}


def outcome(content: Sequence[Any], structured: Any, *, error: bool) -> tuple[Any, str | None]:
    """What a tool gave back, as the guard records it: a result, or the text of an error."""
    text = _text(content)
    if error:
        return None, text or "an error without a text"
    if structured is not None:
        return _unwrapped(structured), None
    return (list(content) if text is None else text), None


def _text(content: Sequence[Any]) -> str | None:
    texts = [each.get("text") if isinstance(each, dict) else getattr(each, "text", None) for each in content]
    return None if None in texts else "\n".join(map(str, texts))


def _unwrapped(structured: Any) -> Any:
    # Servers put what is no object into one: an empty list in it would not look empty.
    return structured["result"] if isinstance(structured, dict) and set(structured) == {"result"} else structured
