"""The command line: `microloop policy …`, `microloop check …`."""


def main() -> None:
    """The entry point of the `microloop` command."""
    from microloop.cli.app import app

    app(prog_name="microloop")
