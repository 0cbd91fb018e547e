"""HTML by functions. Text is escaped unless it was made here: what a log holds cannot become markup."""

from __future__ import annotations

from html import escape
from typing import TypeAlias

_VOID = frozenset({"input", "meta"})


class Html(str):
    """Markup. Only this module makes it."""

    __slots__ = ()


Child: TypeAlias = "str | Html | None"
Attribute: TypeAlias = "str | int | float | bool | None"


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. None among the children or attributes is left out; `class_` is the attribute `class`.

    >>> tag("p", "1 < 2 ", tag("b", "of course"), class_="sum", hidden=True)
    '<p class="sum" hidden>1 &lt; 2 <b>of course</b></p>'
    """
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(opening if name in _VOID else f"{opening}{joined(*children)}</{name}>")


def joined(*children: Child) -> Html:
    """Several children without an element around them."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children if child is not None))


def style(sheet: str) -> Html:
    """A style sheet of our own, which is no text to the browser: nothing in it is escaped."""
    return Html(f"<style>{sheet}</style>")


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{escape(str(value))}"'
