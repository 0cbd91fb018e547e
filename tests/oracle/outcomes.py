"""When two outcomes are the same outcome, for the texts that the traces use.

The core knows far more spellings; they have tests of their own. Here stands only what the committed traces and the
random ones need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

EMPTY = {"", "[]", "{}", "none", "no results", "no results found.", "no matches found.", "0 results"}
ACKNOWLEDGEMENTS = {"true", "null", "ok", "done", "done.", "clicked.", "sent", '{"status":"ok"}', '{"ok":true}'}
SAYS_DONE = r"(the )?(file|message|\d+ row)s? .{0,40}?\b(edited|written|sent|inserted)( successfully)?\.?"

MASKS = [
    (r"\x1b\[[0-9;]*m", ""),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "<time>"),
    (r"\b1[5-9]\d{8}(\d{3})?\b", "<time>"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
    (r"\b\d+(\.\d+)? ?(ms|s|seconds|µs)\b", "<duration>"),
    (r"\b0x[0-9a-f]+\b", "<address>"),
    (r"/tmp/[\w./-]+", "<path>"),
    (r"\bpid[ =:]+\d+", "<pid>"),
    (r"(localhost|127\.0\.0\.1):\d+", "<port>"),
    (r"\b(request[ _-]id|req)[=: \"]+[\w-]+", "<id>"),
    (r"\bline \d+|(\.\w+):\d+(:\d+)?", r"\1:<line>"),
]


@dataclass(frozen=True)
class Outcome:
    """`text` is normalised; an error and a success are never the same."""

    failed: bool
    text: str

    @property
    def empty(self) -> bool:
        return not self.failed and self.text.lower() in EMPTY

    @property
    def acknowledgement(self) -> bool:
        said = self.text.lower().replace('": ', '":')
        return not self.failed and (said in ACKNOWLEDGEMENTS or re.fullmatch(SAYS_DONE, said) is not None)

    @property
    def for_stall(self) -> str:
        """All empty outcomes are the same."""
        return "" if self.empty else self.text


def outcome(text: str, *, failed: bool) -> Outcome:
    normal = text.strip()
    for pattern, mask in MASKS:
        normal = re.sub(pattern, mask, normal, flags=re.IGNORECASE)
    return Outcome(failed, normal)


def error_identity(text: str) -> str:
    """The informative line, without quoted text and digits: the last line of a traceback, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return re.sub(r"[0-9]+", "0", re.sub(r"'[^']*'|\"[^\"]*\"", "''", line))
