"""What the wheel weighs, and what it holds."""

import zipfile
from pathlib import Path
from typing import Any


def kind(name: str) -> str:
    """Return which part of the wheel a file belongs to."""
    if name.endswith(".so"):
        return "native library"
    if ".dist-info/" in name:
        return "metadata"
    return "policies" if name.startswith("microloop/policies/") else "Python"


def weigh(wheel: Path) -> dict[str, Any]:
    """Return kilobytes, packed, by part."""
    parts: dict[str, float] = {}
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            parts[kind(member.filename)] = parts.get(kind(member.filename), 0) + member.compress_size / 1000
    return {"name": wheel.name, "kB": wheel.stat().st_size / 1000, "parts": parts}


def sentence(weight: dict[str, Any]) -> str:
    """Return the same in words."""
    parts = ", ".join(f"{part} {size:.0f}" for part, size in sorted(weight["parts"].items(), key=lambda item: -item[1]))
    return f"wheel: {weight['kB']:.0f} kB ({parts} kB packed)"
