"""Recorded runs as a page that one can read on a phone, and send to somebody."""

from microloop.report.page import page
from microloop.report.run import NamedRun

__all__ = ["NamedRun", "page"]
