"""Where sessions live between the hook's short processes: one SQLite file.

It holds saved sessions (digests and counts), which calls are under way, and policies that were read before. No
arguments and no results.
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

SCHEMA = 1
LOCK_WAIT = 5.0
"""Seconds until a process that waits for another one gives up; the hosts' own patience is longer."""
KEPT_DAYS = 14
# As many as the core remembers.
_MOST_OPEN = 1024
_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS sessions (
    session TEXT, agent TEXT, policy TEXT, saved BLOB NOT NULL, used REAL NOT NULL,
    PRIMARY KEY (session, agent, policy)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS open_calls (
    session TEXT, agent TEXT, policy TEXT, step INTEGER, call TEXT NOT NULL, advice TEXT NOT NULL,
    PRIMARY KEY (session, agent, policy, step)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS policies (
    reference TEXT PRIMARY KEY, stamp TEXT NOT NULL, native BLOB NOT NULL, mode TEXT NOT NULL, slow TEXT NOT NULL
    ) WITHOUT ROWID;
PRAGMA user_version = {SCHEMA};
COMMIT;
"""


class Key(NamedTuple):
    """Whose state it is: a run, the sub-agent in it, and the policy that it is held to."""

    session: str
    agent: str
    policy: str


class OpenCall(NamedTuple):
    """A call under way: its step in the session, and advice that is still to be given."""

    step: int
    advice: str


class StoreError(Exception):
    """The store cannot be used."""


def explained(error: sqlite3.Error, path: str) -> StoreError:
    """What SQLite found, and what to do about it."""
    if "locked" in str(error):
        return StoreError(f"{path}: another process held it for {LOCK_WAIT:.0f} seconds; see what that process does")
    return StoreError(f"{path}: {error}; see that it can be written, or delete it, and every session begins anew")


def default_path() -> str:
    """In the user's state directory."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The specification has it that a relative path is ignored.
    base = state if os.path.isabs(state) else os.path.expanduser("~/.local/state")
    return os.path.join(base, "microloop", "hook.sqlite3")


class Store:
    """The file, for the length of a `with` block."""

    def __init__(self, path: str) -> None:
        _make_private(path)
        self._connection = sqlite3.connect(path, timeout=LOCK_WAIT, isolation_level=None)
        # What a crash of the machine could cost is the count of the calls before it: not worth a wait for the disk.
        self._connection.execute("PRAGMA synchronous = OFF")
        self._prepare(path)

    def _prepare(self, path: str) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self._connection.executescript(_TABLES)
        elif version != SCHEMA:
            raise StoreError(f"{path} has version {version}, and this microloop reads version {SCHEMA}; delete it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def alone(self) -> sqlite3.Connection:
        """A transaction, as a context manager: until its end, no other process reads what this one will change."""
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def saved(self, key: Key) -> bytes | None:
        """The session as it was saved last."""
        row: tuple[bytes] | None = self._connection.execute(
            "SELECT saved FROM sessions WHERE (session, agent, policy) = (?, ?, ?)", key
        ).fetchone()
        return None if row is None else row[0]

    def save(self, key: Key, saved: bytes, *, new: bool) -> None:
        """Keeps a session; with a new one, those are dropped that nobody has used for long."""
        now = time.time()
        if new:
            self._drop("used < ?", (now - KEPT_DAYS * 86_400,))
        self._connection.execute("REPLACE INTO sessions VALUES (?, ?, ?, ?, ?)", (*key, saved, now))

    def forget(self, session: str) -> None:
        """Drops a run with all its sub-agents."""
        self._drop("session = ?", (session,))

    def begin_anew(self, key: Key) -> None:
        """Drops one session, and what was under way in it."""
        self._drop("(session, agent, policy) = (?, ?, ?)", key)

    def _drop(self, condition: str, values: tuple[object, ...]) -> None:
        dropped = f"SELECT session, agent, policy FROM sessions WHERE {condition}"  # noqa: S608 - a text of ours
        self._connection.execute(f"DELETE FROM open_calls WHERE (session, agent, policy) IN ({dropped})", values)  # noqa: S608 - see above
        self._connection.execute(f"DELETE FROM sessions WHERE {condition}", values)  # noqa: S608 - see above

    def open_call(self, key: Key, step: int, call: str, advice: str) -> None:
        """Notes a call that was let through, until its outcome comes."""
        oldest = (*key, step - _MOST_OPEN)
        self._connection.execute(
            "DELETE FROM open_calls WHERE (session, agent, policy) = (?, ?, ?) AND step <= ?", oldest
        )
        self._connection.execute("REPLACE INTO open_calls VALUES (?, ?, ?, ?, ?, ?)", (*key, step, call, advice))

    def close_call(self, key: Key, call: str) -> OpenCall | None:
        """The oldest open call of that name, which is over now."""
        row = self._connection.execute(
            "SELECT step, advice FROM open_calls WHERE (session, agent, policy, call) = (?, ?, ?, ?) ORDER BY step",
            (*key, call),
        ).fetchone()
        if row is None:
            return None
        self._connection.execute(
            "DELETE FROM open_calls WHERE (session, agent, policy, step) = (?, ?, ?, ?)", (*key, row[0])
        )
        return OpenCall(*row)

    def policy(self, reference: str) -> tuple[str, bytes, str, str] | None:
        """A policy as it was kept: stamp, document for the core, mode, slow rules."""
        row: tuple[str, bytes, str, str] | None = self._connection.execute(
            "SELECT stamp, native, mode, slow FROM policies WHERE reference = ?", (reference,)
        ).fetchone()
        return row

    def keep_policy(self, reference: str, stamp: str, native: bytes, mode: str, slow: str) -> None:
        """Keeps a policy that was read, for the next process."""
        self._connection.execute("REPLACE INTO policies VALUES (?, ?, ?, ?, ?)", (reference, stamp, native, mode, slow))


def _make_private(path: str) -> None:
    """Only the user may look: also at when they worked with which agent."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
