"""Which adapter passes which case of the contract, as a table in the documentation, from the runs of the contract.

contract_table.py RECORD…           write the table into docs/reference/adapters.md
contract_table.py --check RECORD…   fail if the table there is another one
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAGE = Path("docs/reference/adapters.md")
_MODES = ("sync", "async", "stream")
BEGIN, END = "<!-- contract:begin -->", "<!-- contract:end -->"


class Result(NamedTuple):
    """One case in one mode of one adapter."""

    adapter: str
    mode: str
    case: str
    outcome: str
    why: str
    line: int
    """Where the case stands in the suite, for the order of the table."""


def read(records: list[str]) -> Iterator[Result]:
    """Every result in the records; a case that was set up and then ran stands in them once."""
    for record in records:
        for line in Path(record).read_text(encoding="utf-8").splitlines():
            yield Result(**json.loads(line))


def table(results: list[Result]) -> str:
    """The table, and why some cases cannot be."""
    cells: dict[tuple[str, str], set[str]] = defaultdict(set)
    modes: dict[str, list[str]] = defaultdict(list)
    reasons: dict[str, dict[str, str]] = defaultdict(dict)
    for each in sorted(results, key=lambda each: (each.line, _MODES.index(each.mode))):
        cells[each.case, each.adapter].add(each.outcome)
        if each.mode not in modes[each.adapter]:
            modes[each.adapter].append(each.mode)
        if each.outcome == "skipped":
            reasons[each.adapter][each.case] = each.why.removeprefix("Skipped: ").partition(": ")[2]
    adapters, cases = sorted(modes, key=str.lower), list(dict.fromkeys(case for case, _ in cells))
    return "\n".join(
        [
            *_grid(cells, adapters, cases),
            "",
            *(f"- **{each}** runs {_listed(modes[each])}." + _why(reasons[each]) for each in adapters),
        ]
    )


def _grid(cells: dict[tuple[str, str], set[str]], adapters: list[str], cases: list[str]) -> Iterator[str]:
    yield "| case | " + " | ".join(adapters) + " |"
    yield "|---" * (len(adapters) + 1) + "|"
    for case in cases:
        yield f"| {_sentence(case)} | " + " | ".join(_mark(cells[case, each]) for each in adapters) + " |"


def _mark(outcomes: set[str]) -> str:
    if "failed" in outcomes:
        return "**fails**"
    return "yes" if "passed" in outcomes else "–"


def _sentence(case: str) -> str:
    return case.removeprefix("test_").replace("_", " ")


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _why(reasons: dict[str, str]) -> str:
    return "".join(f"\n    - – {_sentence(case)}: {why}" for case, why in reasons.items())


def main() -> int:
    """1 if the table of the documentation is not that of the records."""
    records = [argument for argument in sys.argv[1:] if argument != "--check"]
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    made = f"{head}{BEGIN}\n\n{table(list(read(records)))}\n\n{END}{tail}"
    if "--check" not in sys.argv:
        PAGE.write_text(made, encoding="utf-8")
    elif made != page:
        print(f"{PAGE} shows another table than the tests give; write it anew with: make contract-table")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
