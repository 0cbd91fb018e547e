"""What is said of an argument of the wrong type: which one, what it must be, what was given, and what to do."""

from __future__ import annotations


def wrong_type(name: str, value: object, wanted: str, instead: str) -> TypeError:
    """The error, for whoever has found it to raise.

    >>> str(wrong_type("usd", None, "a number of dollars", "leave it out where nobody knows"))
    'usd must be a number of dollars, found NoneType; leave it out where nobody knows'
    """
    return TypeError(f"{name} must be {wanted}, found {type(value).__name__}; {instead}")


def check_text(name: str, value: object, instead: str) -> None:
    """TypeError for what is no text."""
    if not isinstance(value, str):
        raise wrong_type(name, value, "text", instead)


def no_verdict(value: object) -> TypeError:
    """The error for what is given in the place of a verdict."""
    return wrong_type("verdict", value, "a Verdict", "pass what check returned")
