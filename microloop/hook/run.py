"""The command itself: an event in on standard input, a reply out."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from collections.abc import Callable

from microloop.hook.dialects import dialect_of
from microloop.hook.event import Answer, Event
from microloop.hook.faults import Reply, failed, interrupted, not_ours
from microloop.hook.options import Options
from microloop.hook.payload import Payload, UnknownEvent, decoded
from microloop.hook.policies import named
from microloop.hook.store import Store, default_path, explained


def run(options: Options) -> int:
    """Answers one event, and gives the exit code."""
    if sys.stdin.isatty():
        return _say(Reply(stderr="microloop hook reads an agent's event from standard input; see --help\n", code=2))
    try:
        raw = sys.stdin.buffer.read()
    except KeyboardInterrupt:
        return _say(interrupted(None, named(options.policy)))
    return _say(reply_to(raw, options))


def _say(reply: Reply) -> int:
    # It is decided: an interrupt would only lose the answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr.write(reply.stderr)
    sys.stdout.write(reply.stdout)
    return reply.code


def reply_to(raw: bytes, options: Options) -> Reply:
    """The reply to the bytes of an event."""
    events: list[Event] = []
    notices: list[str] = []
    try:
        answer = _answer(decoded(raw), options, events.append, notices.append)
    except UnknownEvent as unknown:
        return not_ours(str(unknown))
    except KeyboardInterrupt:
        return interrupted(events[0] if events else None, named(options.policy))
    except Exception as error:  # noqa: BLE001 - whatever fails in us, `on_error` decides, and it is told
        return failed(error, events[0] if events else None, named(options.policy))
    said = "" if answer is None else json.dumps(answer)
    return Reply(said, "".join(f"microloop hook: {notice}\n" for notice in notices))


def _answer(payload: Payload, options: Options, see: Callable[[Event], None], notice: Callable[[str], None]) -> Answer:
    dialect = dialect_of(payload, options.dialect)
    event = dialect.read(payload)
    if event is None:
        return None
    see(event)
    # Not before: what fails while it loads the native library fails here, where `on_error` decides.
    from microloop.hook.respond import respond

    path = options.store or default_path()
    try:
        with Store(path) as store:
            return dialect.answer(event, respond(store, event, named(options.policy), dialect, notice))
    except sqlite3.Error as error:
        raise explained(error, path) from error
