"""`microloop monitor`: a file that another process is writing, told as it happens."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import microloop
from microloop.cli.app import app
from microloop.cli.following import Ending, Follower

PATIENCE = 60
"""Seconds until a line that does not come fails the test; nothing waits so long where all is well."""


def step(result="no hit at all", **more):
    return json.dumps({"tool": "search", "arguments": {"q": "x"}, "result": result, **more}) + "\n"


class Watching:
    """The command in a process of its own, and what it prints as it comes."""

    def __init__(self, *arguments, **options):
        program = [sys.executable, "-m", "microloop", "monitor", *map(str, arguments)]
        env = {**os.environ, "PYTHONPATH": str(Path(microloop.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(program, text=True, env=env, **pipes, **options)
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def line(self):
        return self._lines.get(timeout=PATIENCE)

    def until(self, words):
        while words not in (line := self.line()):
            pass
        return line

    def ended(self):
        """The exit code, and what is printed at the end."""
        code = self.process.wait(timeout=PATIENCE)
        self._reader.join(timeout=PATIENCE)
        return code, [self._lines.get_nowait() for _ in range(self._lines.qsize())]


@pytest.fixture
def watching():
    begun = []

    def begin(*arguments, **options):
        begun.append(Watching(*arguments, **options))
        return begun[-1]

    yield begin
    for each in begun:
        each.process.kill()
        each.process.wait()
        each.process.stdout.close()


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(step(), encoding="utf-8")
    return path


def append(path, text):
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def test_each_change_is_told_as_it_happens_and_ctrl_c_ends_with_a_summary(watching, log):
    command = watching(log, "--follow")
    # Half of the next line is there when the warning is told; its other half comes later.
    append(log, step() * 2 + step()[:20])
    assert command.until("step") == "  step 2: warning: search gave the same answer again, as in steps 0–1"
    append(log, step()[20:] + step())
    assert command.line().startswith("  step 4: stalled: ")
    command.process.send_signal(signal.SIGINT)
    code, rest = command.ended()
    assert (code, rest[-1]) == (1, "1 run under balanced: 1 stalled")


def test_a_file_that_is_replaced_is_said_and_read_from_its_start(watching, log, tmp_path):
    command = watching(log, "--follow")
    append(log, step() * 2)
    command.until("step 2: warning")
    new = tmp_path / "new.jsonl"
    new.write_text("".join(step(result=f"page {number}") for number in range(3)) + step() * 3, encoding="utf-8")
    new.replace(log)
    assert command.line() == f"error: {log} was replaced; it is read from its start"
    command.until("step 5: warning")
    command.process.send_signal(signal.SIGTERM)
    code, rest = command.ended()
    assert (code, rest[0]) == (1, "this run: 6 steps, warning since step 5")


def test_a_file_that_is_rewritten_is_said_and_read_from_its_start(watching, log):
    command = watching(log, "--follow", "--json")
    append(log, step() * 2)
    assert json.loads(command.line())["step"] == 2
    log.write_text(step(result="another"), encoding="utf-8")
    assert command.line() == f"error: {log} was rewritten; it is read from its start"
    append(log, step() * 3)
    assert json.loads(command.line())["step"] == 3
    command.process.send_signal(signal.SIGINT)
    assert command.ended()[0] == 1


def test_a_pipe_is_read_as_it_comes_to_its_end(watching):
    command = watching("-", stdin=subprocess.PIPE)
    command.process.stdin.write(step() * 3)
    command.process.stdin.flush()
    command.until("step 2: warning")
    command.process.stdin.write(step() + step().rstrip())
    command.process.stdin.close()
    command.until("step 4: stalled")
    assert command.ended()[0] == 1


def test_a_named_pipe_is_read_as_it_comes(watching, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = watching(pipe, "--follow", "--fail-on", "stalled")
    with pipe.open("w", encoding="utf-8") as writer:
        writer.write(step() * 3)
        writer.flush()
        command.until("step 2: warning")
    assert command.ended()[0] == 0


def document(count):
    asked = {"role": "assistant", "content": None}
    messages = []
    for number in range(count):
        call = {"id": f"call_{number}", "function": {"name": "search", "arguments": '{"q": "x"}'}}
        messages += [{**asked, "tool_calls": [call]}, {"role": "tool", "tool_call_id": call["id"], "content": "no"}]
    return json.dumps({"session_id": "a", "messages": messages}, indent=2)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_log_behind_a_byte_order_mark_is_told_as_soon_as_its_lines_are_whole(watching, tmp_path, encoding):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"")
    command = watching(path, "--follow")
    with path.open("ab", buffering=0) as file:
        # The mark comes alone, and the first half of the next letter with the lines before.
        for written in ("\ufeff".encode(encoding), (step() * 3).encode(encoding), step().encode(encoding)[:1]):
            file.write(written)
        command.until("step 2: warning")
        file.write(step().encode(encoding)[1:] + step().encode(encoding))
        command.until("step 4: stalled")
    command.process.send_signal(signal.SIGINT)
    assert command.ended()[0] == 1


def test_a_document_that_is_written_anew_with_each_message_tells_only_what_is_new(watching, tmp_path):
    path = tmp_path / "session.json"
    path.write_text(document(3), encoding="utf-8")
    command = watching(path, "--follow")
    command.until("step 2: warning")
    path.write_text(document(5), encoding="utf-8")
    command.until("was rewritten")
    assert command.line() == "run a"
    assert command.line().startswith("  step 4: stalled: ")
    command.process.send_signal(signal.SIGINT)
    code, rest = command.ended()
    assert (code, rest[0].startswith("a: 5 steps, stalled")) == (1, True)


def test_it_ends_when_nothing_comes_any_more(watching, log):
    command = watching(log, "--until-idle", "0.1")
    code, rest = command.ended()
    assert (code, rest[-1]) == (0, "1 run under balanced: 1 healthy")


def test_without_follow_it_ends_at_the_end(log):
    append(log, step() * 2 + step().rstrip())
    result = CliRunner().invoke(app, ["monitor", str(log)])
    assert (result.exit_code, "this run: 4 steps, warning since step 2" in result.output) == (1, True)


def test_a_line_that_stays_half_written_is_told_as_broken(watching, log):
    append(log, '{"tool": "sea')
    code, rest = watching(log, "--until-idle", "0.1").ended()
    assert code == 0
    assert any(line.startswith("error: line 2 is skipped: not JSON") for line in rest)
    assert rest[-1].endswith("; 1 broken line skipped")


def test_what_cannot_be_followed_ends_with_2(tmp_path):
    packed = tmp_path / "run.jsonl.gz"
    packed.write_bytes(b"")
    result = CliRunner().invoke(app, ["monitor", str(packed), "--follow"])
    assert (result.exit_code, "is packed" in result.stderr) == (2, True)
    assert CliRunner().invoke(app, ["monitor", str(tmp_path / "none.jsonl"), "--follow"]).exit_code == 2


class Script(Ending):
    """Does the next thing each time the follower waits, so that nothing depends on how fast anybody is."""

    def __init__(self, *acts):
        super().__init__()
        self._acts = list(acts)

    def wait(self, seconds):
        if self._acts:
            self._acts.pop(0)()
        else:
            self.set()


def followed(path, *acts):
    said = []
    follower = Follower(str(path), Script(*acts), said.append)
    return [list(lines) for lines in follower.files()], said


def test_a_character_that_is_cut_in_half_is_whole_again(tmp_path):
    path = tmp_path / "run.jsonl"
    whole = '{"tool": "ä"}\n'.encode()
    path.write_bytes(whole[:11])

    def rest():
        with path.open("ab") as file:
            file.write(whole[11:])

    assert followed(path, rest) == ([[whole]], [])


def test_a_file_that_is_rewritten_and_longer_is_noticed(tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(b"[1]")
    files, said = followed(path, lambda: path.write_bytes(b"[1, 2]"))
    assert files == [[b"[1]"], [b"[1, 2]"]]
    assert said == [f"{path} was rewritten; it is read from its start"]


def test_what_was_written_just_before_a_file_is_replaced_is_read(tmp_path):
    path, new = tmp_path / "run.jsonl", tmp_path / "new.jsonl"
    path.write_bytes(b"1\n")

    def replace():
        with path.open("ab") as file:
            file.write(b"2\n")
        new.write_bytes(b"3\n")
        new.replace(path)

    files, said = followed(path, replace)
    assert files == [[b"1\n", b"2\n"], [b"3\n"]]
    assert said == [f"{path} was replaced; it is read from its start"]


def test_a_file_that_is_gone_is_waited_for(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"1\n")
    files, said = followed(path, path.unlink, lambda: path.write_bytes(b"2\n"))
    assert (files, len(said)) == ([[b"1\n"], [b"2\n"]], 1)
