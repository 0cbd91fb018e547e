"""Prints the agent frameworks of an environment, with their versions."""

from importlib.metadata import distributions

from microloop.adapters._gate.versions import FLOORS

here = {each.name.lower().replace("_", "-"): each.version for each in distributions()}
print("    " + ", ".join(f"{package} {here[package]}" for package in FLOORS if package in here))
