"""The package's logger, found when there is something to say: `logging` is not imported for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def logger() -> Logger:
    """`logging.getLogger("microloop")`."""
    import logging

    return logging.getLogger("microloop")
