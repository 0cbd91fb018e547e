"""Lines, out of bytes as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from microloop.recorded import decode


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""The lines of what comes in pieces; an empty piece is a pause.

    A line is whole when its end comes, or when it can be no longer: not everybody ends the last line of a file.

    >>> list(whole_lines([b'{"a"', b"", b': 1}\n{', b"}", b"", b"\n[", b"0"]))
    [b'{"a": 1}\n', b'{}', b'[0']
    """
    held: list[bytes] = []
    ended_early = False
    for chunk in chunks:
        if not chunk:
            held = [b"".join(held)]
            if _is_complete(held[0]):
                yield held.pop()
                ended_early = True
            continue
        *ended, rest = (chunk.removeprefix(b"\n") if ended_early else chunk).split(b"\n")
        ended_early = False
        for each in ended:
            yield b"".join((*held, each, b"\n"))
            held = []
        held.append(rest)
    if any(held):
        yield b"".join(held)


def _is_complete(line: bytes) -> bool:
    """Whether a line is a JSON value that nothing can follow, or the brackets that end a document."""
    bare = line.strip()
    if not bare.endswith((b"}", b"]")):
        return False
    try:
        return not bare.strip(b"]}") or isinstance(decode(bare), (dict, list))
    except ValueError:
        return False
