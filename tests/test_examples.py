"""The examples run as they stand: they are documentation, and `make demo` is the first thing that people try."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from installed import installed

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
needs_langchain = pytest.mark.skipif(find_spec("langchain") is None, reason="langchain is not installed")
needs_openai = pytest.mark.skipif(find_spec("langchain_openai") is None, reason="langchain-openai is not installed")
SETTINGS = ("MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "NO_COLOR")


def run(script: str, *prefix: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run an example in a process of its own, with no settings but these."""
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, *prefix, str(EXAMPLES / script)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, cwd=ROOT, env={**environment, **settings}
    )


def output_of(script: str, **settings: str) -> str:
    done = run(script, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_langchain
def test_the_demo_gets_stuck_is_advised_and_refused_changes_course_and_finishes() -> None:
    shown = output_of("demo.py")
    live, recorded = shown.split("2. A recorded run")
    order = ["warn", "block", "Which countries are there", "1127.00 euros", "the answer is right"]
    places = [live.index(part) for part in order]
    assert places == sorted(places)
    assert "steps 1, 2, 3, 4" in live
    assert "Refused at step 23 of 38" in recorded
    assert "\033[" not in shown


@needs_langchain
def test_the_demo_is_in_colour_on_a_terminal_unless_that_is_not_wanted() -> None:
    assert b"\033[31m" in on_terminal("demo.py")
    assert b"\033[" not in on_terminal("demo.py", NO_COLOR="1")


def on_terminal(script: str, **settings: str) -> bytes:
    master, slave = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    with subprocess.Popen(
        [sys.executable, str(EXAMPLES / script)], stdout=slave, stderr=slave, env={**environment, **settings}
    ) as process:
        os.close(slave)
        shown = b"".join(chunks(master))
    assert process.returncode == 0, shown
    return shown


def chunks(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # what Linux says when the other end is closed
            chunk = b""
        if not chunk:
            os.close(terminal)
            return
        yield chunk


@needs_langchain
@pytest.mark.parametrize(
    ("script", "shown"),
    [
        ("quickstart.py", "query_database was refused"),
        ("langchain_middleware.py", "1127.00 euros"),
        ("langgraph_toolnode.py", "1127.00 euros"),
    ],
)
def test_the_framework_examples_run(script: str, shown: str) -> None:
    assert shown in output_of(script)


@pytest.mark.parametrize(
    ("script", "package", "shown"),
    [
        ("crewai_crew.py", "crewai", "Here it is: Brie, third shelf"),
        ("claude_agent.py", "claude_agent_sdk", "Here it is: Brie, third shelf"),
        ("fastmcp_server.py", "fastmcp", "Here it is: Brie, third shelf"),
        ("litellm_guardrail.py", "fastapi_sso", "Here it is: Brie, third shelf"),
        ("mcp_agent.py", "mcp.server.mcpserver", "Here it is: Brie, third shelf"),
        ("ag2_agent.py", "ag2", "Here it is: Brie, third shelf"),
        ("ag2_classic_agents.py", "autogen", "Here it is: Brie, third shelf"),
        ("agent_framework_agent.py", "agent_framework", "Here it is: Brie, third shelf"),
        ("autogen_assistant.py", "autogen_ext", "Here it is: Brie, third shelf"),
        ("google_adk_agent.py", "google.adk", "Here it is: Brie, third shelf"),
        ("llama_index_agent.py", "llama_index.core", "Here it is: Brie, third shelf"),
        ("openai_agents_sdk.py", "agents", "Here it is: Brie, third shelf"),
        ("pydantic_ai_agent.py", "pydantic_ai", "Here it is: Brie, third shelf"),
        ("smolagents_agent.py", "smolagents", "Here it is: Brie, third shelf"),
    ],
)
def test_the_example_of_a_framework_runs_where_it_is_installed(script: str, package: str, shown: str) -> None:
    if not installed(package):
        pytest.skip(f"{package} is not installed")
    assert shown in output_of(script)


def test_the_plain_example_runs_without_any_framework() -> None:
    shown = output_of("plain_python.py")
    assert shown.count("refused (loop.repeat)") == 2
    assert "step 5: block [microloop" in shown


def test_the_readme_shows_the_quickstart_as_it_is() -> None:
    quickstart = (EXAMPLES / "quickstart.py").read_text(encoding="utf-8")
    guarded = quickstart[quickstart.index("@tool") : quickstart.index("if __name__")].strip()
    head = guarded[: guarded.index("return")].strip()
    assert head in (ROOT / "README.md").read_text(encoding="utf-8")


class Stubborn(BaseHTTPRequestHandler):
    """Speaks OpenAI's protocol: the same query again and again, until a tool message says that it was refused."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        requests: list[Any] = self.server.requests  # type: ignore[attr-defined]
        requests.append(body)
        last = body["messages"][-1]
        if last["role"] == "tool" and "was refused" in last["content"]:
            message = {"role": "assistant", "content": "I cannot find it: 0.00 euros."}
        else:
            call = {"name": "query_database", "arguments": json.dumps({"sql": "SELECT SUM(cents) FROM refunds"})}
            calls = [{"id": f"call_{len(requests)}", "type": "function", "function": call}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        self.reply({"index": 0, "message": message, "finish_reason": "stop"})

    def reply(self, choice: dict[str, Any]) -> None:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "local", "usage": usage}
        data = json.dumps({**answer, "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Stubborn) as made:
        made.requests = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@needs_langchain
@needs_openai
def test_with_a_model_behind_an_openai_compatible_server_the_demo_runs_against_it(server: Any) -> None:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    shown = output_of("demo.py", MODEL="local", OPENAI_BASE_URL=url, OPENAI_API_KEY="secret")
    assert "block   loop.repeat" in shown
    assert "the answer is not right" in shown
    assert {request["model"] for request in server.requests} == {"local"}
    told = [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "tool"]
    assert "no such table: refunds" in told[0]
    assert told[2].startswith("[microloop")
    assert "was refused" in told[-1]


@needs_langchain
def test_a_model_that_cannot_be_reached_is_said_in_one_sentence() -> None:
    done = run("demo.py", MODEL="gpt-5-mini")
    assert done.returncode == 1
    assert done.stderr.startswith("MODEL is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is")


@needs_langchain
def test_without_langchain_openai_the_demo_says_what_to_install() -> None:
    # In place of the root, from where the source tree's microloop would be found before the installed one.
    hidden = "import sys; sys.modules['langchain_openai'] = None; sys.path[0] = 'examples'"
    done = run("demo.py", "-c", f"{hidden}; import demo; demo.main()", MODEL="x", OPENAI_API_KEY="y")
    assert done.returncode == 1
    assert done.stderr.strip() == "A real model needs langchain-openai: pip install langchain-openai"


def test_the_recorded_run_is_one_real_run_with_its_source() -> None:
    lines = (EXAMPLES / "data" / "recorded_run.jsonl").read_text(encoding="utf-8").splitlines()
    steps = [json.loads(line) for line in lines]
    assert [step["step"] for step in steps] == list(range(38))
    assert len({step["run_id"] for step in steps}) == 1
    assert "MIT License" in (EXAMPLES / "data" / "README.md").read_text(encoding="utf-8")
