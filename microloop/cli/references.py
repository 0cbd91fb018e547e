"""Policies, formats of logs and numbers as arguments of commands; what can be completed, the shell completes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from microloop.policy import Policy


class PolicyReference(click.ParamType):  # type: ignore[type-arg]  # generic only in the newest click
    """The name of a policy, or the path of a policy file."""

    name = "policy"

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names that begin so, then files."""
        from microloop._policy.names import policy_names

        names = [CompletionItem(name) for name in policy_names() if name.startswith(incomplete)]
        return [*names, CompletionItem(incomplete, type="file")]


class LogFormat(click.ParamType):  # type: ignore[type-arg]  # as above
    """The name of a format that recorded runs can be in."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """One of the names, or an error that has them all."""
        return str(_format_names().convert(value, param, ctx))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names that begin so."""
        return _format_names().shell_complete(ctx, param, incomplete)


class NumberRange(click.FloatRange):
    """A number with bounds. What is no number is in no range, which comparisons do not notice."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, or an error that says its range."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


role_option = click.option("--role", help="Role of the sessions.")
"""For every command that judges sessions: what a policy with roles allows hangs on it."""


def _format_names() -> click.Choice[str]:
    """Made when it is needed: importers cost more time than a command's help may take."""
    from microloop.logs import FORMATS

    return click.Choice(tuple(FORMATS))


def formats_to_try(given: str | None) -> str:
    """What to do with a file in which nothing could be read."""
    names = [name for name in _format_names().choices if name != given]
    return f"if it is a log{' of another format' if given else ''}, name its --format: {', '.join(names)}"


def load_policy(reference: str) -> Policy:
    """The policy of a reference; a fault in it ends the command with code 2."""
    from microloop.cli.style import complain
    from microloop.errors import PolicyError
    from microloop.policy import Policy

    try:
        return Policy.load(reference)
    except PolicyError as error:
        complain(str(error))
        raise SystemExit(2) from None
