"""What a log holds, as it may be shown: on one line, short, with nothing in it that acts on the screen.

Logs hold what models and web pages wrote. Escape sequences drive terminals, and controls of writing direction make a
text read as another one: both are shown as escapes. What is called a secret, or looks like one, is left out; a secret
that neither its name nor its form gives away is not noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from microloop.encoding import outcome_json

_HIDDEN = "[hidden]"
_LOOKED_AT = 8
"""How much longer than what is shown a text is read: white space and escapes change its length."""
_LONG = 4000
"""The most that is read of a text among the arguments."""

_SPACE = re.compile(r"\s+")
_ACTING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SECRET_NAME = re.compile(
    r"passw(?:or)?d|passphrase|secret|(?:^|[_-])token$|(?:api|access|private)[_-]?key|authorization|cookie|credential",
    re.IGNORECASE,
)
_NAMED = re.compile(r'"([^"\\]{1,64})"\s*:\s*"(?:[^"\\]|\\.)*"?')
_SET = re.compile(r"""\b([A-Za-z_][\w-]{0,63})\s?=\s?("[^"]*"?|'[^']*'?|[^\s"'&;]+)""")
_FORMED = re.compile(
    r"\b(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJhbGci)[\w.-]{12,}|(?<=\b[Bb]earer )[\w.~+/=-]{8,}"
)


def visible(text: str, limit: int = 200) -> str:
    r"""One line of at most `limit` characters.

    >>> visible("two\nlines, \x1b[31mred, \u202edesrever")
    'two lines, \\x1b[31mred, \\u202edesrever'
    >>> visible("a long text", 6)
    'a lon…'
    """
    head = _without_secrets(text[: limit * _LOOKED_AT])
    line = _ACTING.sub(_escape, _SPACE.sub(" ", head).strip())
    whole = len(line) <= limit and len(text) <= limit * _LOOKED_AT
    return line if whole else line[: limit - 1] + "…"


def arguments(value: object, limit: int = 200) -> str:
    """The arguments of a call.

    >>> arguments({"q": "cats", "limit": 3, "api_key": "x7", "headers": {"Cookie": "id=7"}})
    'q="cats" limit=3 api_key=[hidden] headers={"Cookie": "[hidden]"}'
    """
    if not isinstance(value, Mapping):
        return visible(value if isinstance(value, str) else _json(value), limit)
    return visible(" ".join(f"{name}={_argument(str(name), each)}" for name, each in value.items()), limit)


def outcome(value: object, limit: int = 200) -> tuple[str, int]:
    """What came back, and how many bytes it has.

    >>> outcome({"rows": [1, 2]})
    ('{"rows":[1,2]}', 14)
    """
    data = outcome_json(value)[1]
    # No character has more than four bytes; one that is cut in half is left out.
    return visible(data[: limit * _LOOKED_AT * 4].decode("utf-8", "ignore"), limit), len(data)


def _argument(name: str, value: object) -> str:
    return _HIDDEN if _SECRET_NAME.search(name) else _json(value)


def _json(value: object) -> str:
    # A text may be JSON itself: what it hides would not be found between the escapes.
    return json.dumps(_head(value) if isinstance(value, str) else value, ensure_ascii=False, default=str)


def _head(text: str) -> str:
    return _without_secrets(text if len(text) <= _LONG else text[:_LONG] + "…")


def _without_secrets(text: str) -> str:
    named = _NAMED.sub(lambda found: _left_out(found, f'"{found[1]}": "{_HIDDEN}"'), text)
    return _FORMED.sub(_HIDDEN, _SET.sub(lambda found: _left_out(found, f"{found[1]}={_HIDDEN}"), named))


def _left_out(found: re.Match[str], without: str) -> str:
    return without if _SECRET_NAME.search(found[1]) else found[0]


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
