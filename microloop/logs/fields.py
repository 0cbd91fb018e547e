"""What a log's field holds, if it is what it should be. Logs are other people's data: nothing here raises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from microloop.recorded import decode

_MOST_TOKENS = (1 << 64) - 1
_MOST_DOLLARS = 1e10
_MOST_MILLISECONDS = 1 << 53
_WHOLE = re.compile(r"-?[0-9]{1,20}")
_FRACTION = re.compile(r"\.(\d+)")


def mapping(value: Any) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """A text that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def words(content: Any) -> str:
    """What a message says: its text, or that of its blocks.

    >>> words([{"type": "text", "text": "Hello."}, {"type": "image", "source": {}}])
    'Hello.'
    """
    if isinstance(content, str):
        return content
    return "\n".join(said for said in map(_block_text, listed(content)) if said)


def _block_text(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    if "thinking" in mapping(block) or mapping(block).get("type") == "reasoning":
        return None
    return text(mapping(block).get("text")) or text(mapping(block).get("content"))


def result(content: Any) -> Any:
    """What a tool gave back: as text, if it is only text, else as it stands."""
    if content is None:
        return ""
    blocks = listed(content)
    only_text = blocks and all(mapping(block).get("type") in ("text", "input_text", "output_text") for block in blocks)
    return words(content) if only_text else content


def plain(content: Any) -> str:
    """A result or an error as text."""
    shown = result(content)
    try:
        return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    except RecursionError:
        return "nested too deeply"


def arguments(value: Any) -> Mapping[str, Any] | str:
    """Arguments as a mapping where they are one; text that is none stays as the model wrote it.

    >>> arguments('{"q": "x"}'), arguments('{"q": ')
    ({'q': 'x'}, '{"q": ')
    """
    if value is None or value == "":
        return {}
    if not isinstance(value, str):
        return value if isinstance(value, dict) else {"input": value}
    parsed = parsed_text(value)
    return parsed if isinstance(parsed, dict) else value


def parsed_text(value: Any) -> Any:
    """The value that a text holds as JSON; whatever else it is comes back as it is."""
    if not isinstance(value, str):
        return value
    try:
        return decode(value.encode())
    except ValueError:
        return value


def milliseconds(value: Any) -> int | None:
    """A time of ISO 8601, in milliseconds since 1970. Without a zone it is taken for UTC.

    >>> milliseconds("1970-01-01T00:00:01.5Z")
    1500
    """
    if not isinstance(value, str):
        return None
    # Python 3.10 reads neither a Z nor fractions of other than 3 or 6 digits.
    shaped = _FRACTION.sub(lambda found: f".{found[1][:6]:0<6}", value.replace("Z", "+00:00"), count=1)
    try:
        moment = datetime.fromisoformat(shaped)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return clock(moment.timestamp() * 1000)


def from_seconds(value: Any) -> int | None:
    """Seconds since 1970, in milliseconds."""
    return clock(value * 1000) if isinstance(value, (int, float)) else None


def clock(value: float) -> int | None:
    """Milliseconds as the guard's clock takes them."""
    return round(value) if 0 <= value <= _MOST_MILLISECONDS else None


def whole_text(value: Any) -> int | None:
    """A whole number of 64 bit, which some formats write as a text because JSON's numbers are too short for them."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value if isinstance(value, int) else None


def whole(value: Any) -> int:
    """A number of tokens, or 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def dollars(value: Any) -> float:
    """An amount of money, or 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(value) if 0 <= value <= _MOST_DOLLARS else 0.0
