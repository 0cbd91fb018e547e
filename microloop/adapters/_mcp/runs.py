"""Which run a request belongs to.

Since the protocol of 2026-07-28 there are no sessions: every request stands for itself. A client names its run in the
request's `_meta`; older clients over HTTP have a session id. Both are names that a client chooses, so where callers are
authenticated, a name counts only among the runs of the same caller.
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from microloop.log import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

_warned: set[str] = set()


class Runs:
    """Names the runs of one server. Over stdio and in memory, a server process has one client: that is one run."""

    def __init__(self, server: str) -> None:
        self._own = f"{server}-{uuid.uuid4().hex}"

    def name(self, meta: Mapping[str, Any], request: Any, token: Any) -> str:
        """The run of a request, from its `_meta`, its HTTP request and its access token, as far as it has them."""
        chosen = meta.get("run_id") or _legacy_session(request)
        caller = None if token is None else _principal(token)
        if caller is not None:
            return caller if chosen is None else f"{caller}/{chosen}"
        if chosen is not None:
            return str(chosen)
        return self._own if request is None else _unknown()


def batch_of(meta: Mapping[str, Any]) -> str | None:
    """The turn of the model that a call was made in, where the client says so."""
    turn = meta.get("turn")
    return None if turn is None else f"turn-{turn}"


def _legacy_session(request: Any) -> str | None:
    if request is None:
        return None
    found: str | None = request.headers.get("mcp-session-id") or request.query_params.get("session_id")
    return found


def _principal(token: Any) -> str:
    issuer = (getattr(token, "claims", None) or {}).get("iss")
    return json.dumps([token.client_id, issuer, getattr(token, "subject", None)], separators=(",", ":"))


def _unknown() -> str:
    # One session for all strangers would let the loop of one of them halt the others.
    if "unknown" not in _warned:
        _warned.add("unknown")
        logger().warning(
            "a tool was called over HTTP without a run: each such call is a run of its own, in which no loop is seen "
            'and no budget is spent. Give calls `_meta: {"run_id": …}`, or authenticate the callers.'
        )
    return f"call-{uuid.uuid4().hex}"
