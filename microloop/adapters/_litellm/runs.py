"""Which run a request to a proxy belongs to. Requests have no state: each carries its whole conversation."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from litellm.integrations.custom_guardrail import get_session_id_from_request_data

from microloop.adapters._gate.sessions import session_of
from microloop.adapters._litellm.conversation import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from microloop.guardrail import Guardrail
    from microloop.session import Session

# Conversations whose next request has not come.
_MOST = 10_000


class Runs:
    """Finds the session of a request.

    By LiteLLM's session id among those of the same API key, else by the conversation as it was after the answer before.
    A conversation in which no call has been made begins a new run.
    """

    def __init__(self, guard: Guardrail) -> None:
        self._guard = guard
        self._names: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def session(self, data: dict[str, Any], api_key: str | None) -> Session:
        """The session of a request."""
        chosen = get_session_id_from_request_data(data)
        if chosen is not None:
            return session_of(self._guard, str(chosen) if api_key is None else f"{api_key}/{chosen}")
        name = name_of(data["messages"])
        with self._lock:
            known = None if name is None else self._names.get(name)
        return session_of(self._guard, known or f"litellm-{uuid.uuid4().hex}")

    def expect(self, session: Session, messages: Sequence[dict[str, Any]]) -> None:
        """The next request of this run will begin with these messages."""
        name = name_of(messages)
        if name is None:
            return
        with self._lock:
            self._names[name] = session.id
            self._names.move_to_end(name)
            if len(self._names) > _MOST:
                self._names.popitem(last=False)
