"""The sessions of one guard by their ids, of which only so many are kept."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

from microloop import _native
from microloop.errors import SessionError
from microloop.given import check_text, wrong_type

if TYPE_CHECKING:
    from microloop.guardrail import Guardrail
    from microloop.session import Session

_STR = "pass str(id)"


class Registry:
    """Opens sessions, finds them again, and lets go of those that nobody has used for longest."""

    __slots__ = ("_by_id", "_guard", "_limit", "_policy")

    def __init__(self, guard: Guardrail, policy: int, limit: int) -> None:
        if not isinstance(limit, int):
            raise wrong_type("max_sessions", limit, "a whole number", "pass 1 or more")
        if limit < 1:
            raise ValueError(f"max_sessions is {limit}: the sessions in use must find room; pass 1 or more")
        self._guard = guard
        self._policy = policy
        self._limit = limit
        self._by_id: OrderedDict[str, Session] = OrderedDict()

    def find(self, session_id: str) -> Session | None:
        """The open session of that id."""
        session = self._by_id.get(session_id)
        if session is not None:
            try:
                self._by_id.move_to_end(session_id)
            except KeyError:
                return None  # another thread closed it in between
        return session

    def open(self, session_id: str | None, role: str | None, parent: Session | None) -> Session:
        """The session of that id, made if it is not open; without an id always a new one."""
        _check_types(session_id, role, parent)
        with self._guard.lock:
            known = None if session_id is None else self.find(session_id)
            if known is not None:
                return _same(known, role, parent)
            session = self._make(session_id, role, parent)
            if session_id is not None:
                self._by_id[session_id] = session
                self._trim(session)
            return session

    def restore(self, session_id: str, saved: bytes) -> Session:
        """A session of that id that goes on where a saved one stood."""
        check_text("id", session_id, _STR)
        if not isinstance(saved, bytes):
            raise wrong_type("saved", saved, "bytes", "pass what Session.save returned")
        with self._guard.lock:
            if self.find(session_id) is not None:
                raise SessionError(f"session {session_id} is open; close it before you restore it")
            session = self._session(session_id, _native.load_session(self._policy, saved), None, None)
            session.role = session.state()["role"]
            self._by_id[session_id] = session
            self._trim(session)
            return session

    def forget(self, session: Session) -> None:
        """Lets go of a session that was closed."""
        with self._guard.lock:
            if self._by_id.get(session.id) is session:
                del self._by_id[session.id]

    def _make(self, session_id: str | None, role: str | None, parent: Session | None) -> Session:
        if parent is not None and parent.closed:
            raise parent.failure(_native.STALE_HANDLE)
        role = role or self._guard.role
        options = {"role": role, "parent": parent and parent.handle}
        given = {name: value for name, value in options.items() if value is not None}
        return self._session(session_id, _native.new_session(self._policy, msgspec.json.encode(given)), role, parent)

    def _session(self, session_id: str | None, handle: int, role: str | None, parent: Session | None) -> Session:
        from microloop.session import Session

        name = session_id or f"session-{os.urandom(8).hex()}"
        return Session(self._guard, name, handle, role=role, parent=parent, anonymous=session_id is None)

    def _trim(self, newest: Session) -> None:
        """Drops the session that has been idle for longest. Its memory is freed once nobody holds it any more."""
        if len(self._by_id) <= self._limit:
            return
        idle = next((each for each in self._by_id.values() if not each.entered and each is not newest), None)
        if idle is not None:
            del self._by_id[idle.id]


def _check_types(session_id: object, role: object, parent: object) -> None:
    from microloop.session import Session

    if session_id is not None:
        check_text("id", session_id, _STR)
    if role is not None:
        check_text("role", role, "pass the name of a role of the policy")
    if parent is not None and not isinstance(parent, Session):
        raise wrong_type("parent", parent, "a Session", "pass what guard.session returned")


def _same(known: Session, role: str | None, parent: Session | None) -> Session:
    if role is not None and role != known.role:
        raise SessionError(f"session {known.id} is open with role {known.role}, not {role}; close it first")
    if parent is not None and parent is not known.parent:
        raise SessionError(f"session {known.id} is open with another parent; close it first")
    return known
