"""Reports for the tests: written by the command, and read as a browser reads them."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from click.testing import CliRunner

from microloop.cli.app import app

HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</style><style>body { display: none }</style>",
    "</title><img src=x onerror='window.pwned = 1'>",
    '" onclick="window.pwned = 1" x="',
    "javascript:window.pwned=1",
    "<svg><a href='javascript:window.pwned=1'>x</a></svg>",
    "<!-- <iframe src='https://example.org'>",
    "]]><![CDATA[<b>",
    "&lt;script&gt; &amp;quot;",
    "line\u2028separator\u2029paragraph",
    "\u202egnihtemos\u202c \u2066isolated\u2069 \u200f \u061c",
    "\x00\x1b[31m\x9b red",
]


def call(tool="search", arguments=None, result="nothing found", **more):
    outcome = {} if "error" in more else {"result": result}
    return {"tool": tool, "arguments": {"q": "x"} if arguments is None else arguments, **outcome, **more}


def write(folder, steps, *options, name="run.jsonl"):
    """The page that the command writes about the steps."""
    log, page = folder / name, folder / "report.html"
    log.write_text("\n".join(map(json.dumps, steps)), encoding="utf-8")
    done = CliRunner().invoke(app, ["report", str(log), "-o", str(page), *options])
    assert done.exit_code == 0, done.output
    return page


def hostile_steps():
    """A run with a hostile text in each place that a log fills."""
    steps = []
    for text in HOSTILE:
        named = {"run_id": f"run {text}"}
        steps += [{"user": text, **named}, {"assistant": text, **named}]
        steps += [call(text, {text: text}, text, **named) for _ in range(6)]
        steps += [call(text, text, error=text, **named) for _ in range(6)]
    return steps


class Page(HTMLParser):
    """The elements of a page, and the text of each kind of element."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(html)

    @property
    def text(self) -> str:
        """All that is to be read, with single spaces."""
        return " ".join(" ".join(self.words).split())

    def named(self, name):
        """The attributes of all elements of a name."""
        return [attributes for element, attributes in self.elements if element == name]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self._inside.append(tag)

    def handle_endtag(self, tag):
        assert self._inside.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if self._inside[-1:] != ["style"]:
            self.words.append(data)
