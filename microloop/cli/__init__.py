"""The command line: `microloop policy …`, `microloop check …`, `microloop hook`."""

import sys


def main() -> None:
    """The entry point of the `microloop` command."""
    if sys.argv[1:2] == ["hook"]:
        _hook(sys.argv[2:])
    from microloop.cli.app import app

    app(prog_name="microloop")


def _hook(arguments: list[str]) -> None:
    """An agent waits for the hook at each of its calls: it goes past `click`, unless `click` has something to say."""
    from microloop.hook.options import quick

    options = quick(arguments)
    if options is not None:
        from microloop.hook.run import run

        sys.exit(run(options))
