"""docs/llms.txt: every page of the documentation with its title and first sentence, for readers that are models.

llms_txt.py           write it
llms_txt.py --check   fail if it is not what the pages give
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

DOCS = Path("docs")
INDEX = DOCS / "llms.txt"
HEAD = """# microloop

> A runtime guard for the tool calls of AI agents: it decides before every call whether it may run, and watches
> whether the run is still getting anywhere. A Python package over a Rust core with a C ABI.
"""


def sections(nav: list[Any]) -> Iterator[tuple[str, list[str]]]:
    """The headings of the navigation, with their pages."""
    for entry in nav:
        if isinstance(entry, dict):
            yield from entry.items()


def line(page: str) -> str:
    """One page: its title, and the sentence that it begins with."""
    text = (DOCS / page).read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    if title is None:
        raise ValueError(f"{page} has no title")
    return f"- [{title[1].replace('`', '')}]({page}): {_first_sentence(text[title.end() :])}"


def _first_sentence(text: str) -> str:
    paragraph = next(
        each for each in text.split("\n\n") if each.strip() and not each.lstrip().startswith(("<!--", "|", "```", "#"))
    )
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
    return re.split(r"(?<=\.)\s", plain, maxsplit=1)[0].rstrip(":")


def made() -> str:
    """The whole file."""
    settings = yaml.safe_load(Path("mkdocs.yml").read_text(encoding="utf-8"))
    parts = [HEAD]
    for heading, pages in sections(settings["nav"]):
        parts.append(f"## {heading}\n\n" + "\n".join(map(line, pages)) + "\n")
    return "\n".join(parts)


def main() -> int:
    """1 if the file is out of date."""
    if "--check" not in sys.argv:
        INDEX.write_text(made(), encoding="utf-8")
    elif INDEX.read_text(encoding="utf-8") != made():
        print(f"{INDEX} is out of date: python scripts/llms_txt.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
