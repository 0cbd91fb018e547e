"""The command line: `microloop policy …`, `microloop check …`, `microloop hook`."""

import io
import os
import sys

from microloop.cli.interrupt import end_on_lost_interrupt, interrupted, is_hook


def main() -> None:
    """The entry point of the `microloop` command."""
    sys.unraisablehook = end_on_lost_interrupt
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(interrupted())


def _run() -> None:
    _replace_closed_streams()
    if is_hook():
        _hook(sys.argv[2:])
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # arrows and models' texts, where a locale has no such letters
    from microloop.cli.app import app

    try:
        app(prog_name="microloop")
    except OSError as error:
        from microloop.cli.style import complain

        complain(f"the output cannot be written: {error}")
        sys.exit(2)


def _replace_closed_streams() -> None:
    """Python has None for a stream that was closed before it started: as with `<&-`, and under some supervisors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115  # no pathlib in the hook; open to the end


def _hook(arguments: list[str]) -> None:
    """An agent waits for the hook at each of its calls: it goes past `click`, unless `click` has something to say."""
    from microloop.hook.options import quick

    options = quick(arguments)
    if options is not None:
        from microloop.hook.run import run

        sys.exit(run(options))
