"""Checks the relative links of all Markdown files, those that mkdocs does not build included, with their anchors."""

import re
import sys
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)


def anchors(document: Path) -> set[str]:
    """The anchors that a page gets from its headings."""
    headings = HEADING.findall(FENCE.sub("", document.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(document: Path) -> list[str]:
    """The links of one page that lead nowhere."""
    found = []
    for target in LINK.findall(FENCE.sub("", document.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        linked = document.parent / path if path else document
        if not linked.exists():
            found.append(f"{document}: {target}: there is no {linked}")
        elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
            found.append(f"{document}: {target}: no heading of {linked} makes that anchor")
    return found


def main() -> int:
    """1 if any link is broken."""
    documents = sorted([*Path().glob("*.md"), *Path("docs").rglob("*.md"), *Path("examples").rglob("*.md")])
    wrong = [line for document in documents for line in broken(document)]
    print("\n".join(wrong) or f"{len(documents)} Markdown files, no broken link")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
