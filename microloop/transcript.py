"""What a generator has given so far, in bounded memory."""

from __future__ import annotations

import hashlib
from typing import Any

from microloop.encoding import outcome_json

_KEPT_BYTES = 1 << 20


class Transcript:
    """The items of a generator as one outcome. Beyond a mebibyte only their digest is kept, so all of them count."""

    __slots__ = ("_digest", "_items", "_room")

    def __init__(self) -> None:
        self._items: list[bytes] = []
        self._room = _KEPT_BYTES
        self._digest: Any = None

    def add(self, item: Any) -> None:
        """Notes an item."""
        data = outcome_json(item)[1]
        if len(data) <= self._room:
            self._items.append(data)
            self._room -= len(data)
            return
        self._room = 0
        self._digest = self._digest or hashlib.blake2b(digest_size=16)
        self._digest.update(b"%d:%b" % (len(data), data))

    def text(self) -> str:
        """The items, one a line, and the digest of what had no room.

        >>> transcript = Transcript()
        >>> transcript.add("one"); transcript.add({"two": 2})
        >>> transcript.text().splitlines()
        ['one', '{"two":2}']
        """
        lines = [*self._items, self._digest.hexdigest().encode()] if self._digest else self._items
        return b"\n".join(lines).decode("utf-8", "replace")
