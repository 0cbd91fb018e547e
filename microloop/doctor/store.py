"""The store of `microloop hook`: looked at without making one, or changing what is there."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from microloop.counting import counted
from microloop.doctor.finding import Finding, ok, wrong
from microloop.hook.store import LOCK_WAIT, SCHEMA, default_path

_NAME = "file"
_ANEW = "delete it, and every session begins anew"


def examine() -> Iterator[Finding]:
    """Whether it can be read and written, and whether it is of this version."""
    path = Path(default_path())
    if not path.exists():
        yield Finding("hook store", _NAME, "absent", f"{path}: none yet; the first call of the hook makes it")
    elif not os.access(path, os.R_OK | os.W_OK):
        yield wrong("hook store", _NAME, f"{path} cannot be read and written", f"chmod u+rw {path}, or {_ANEW}")
    else:
        yield _opened(path)


def _opened(path: Path) -> Finding:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=LOCK_WAIT)) as store:
            return _read(path, store)
    except sqlite3.Error as error:
        return wrong("hook store", _NAME, f"{path}: {error}", _ANEW)


def _read(path: Path, store: sqlite3.Connection) -> Finding:
    (version,) = store.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA:
        return wrong("hook store", _NAME, f"{path} has version {version}, not {SCHEMA}", _ANEW)
    (damage,) = store.execute("PRAGMA quick_check(1)").fetchone()
    if damage != "ok":
        return wrong("hook store", _NAME, f"{path}: {damage}", _ANEW)
    (sessions,) = store.execute("SELECT count(*) FROM sessions").fetchone()
    return ok("hook store", _NAME, f"{path}: {counted(sessions, 'session')}")
