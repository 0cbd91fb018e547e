"""Policies as arguments of commands: a name or a path, completed by the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
