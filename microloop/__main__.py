"""`python -m microloop` is the `microloop` command."""

from microloop.cli import main

if __name__ == "__main__":
    main()
