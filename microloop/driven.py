"""Generators that pass on what an inner one gives, and record all of it when it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING, Any

from microloop.errors import BlockedCall
from microloop.transcript import Transcript

if TYPE_CHECKING:
    from microloop.session import Session
    from microloop.site import Site
    from microloop.verdict import Verdict


def drive(
    site: Site, session: Session | None, step: int, inner: Generator[Any, Any, Any], _verdict: Verdict | None
) -> Generator[Any, Any, Any]:
    """`yield from inner`, but every item passes by."""
    seen = Transcript()
    try:
        item = next(inner)
        while True:
            seen.add(item)
            try:
                sent = yield item
            except GeneratorExit:
                inner.close()
                raise
            except BaseException as error:  # noqa: BLE001 - it goes where it is meant to go: into the generator
                item = inner.throw(error)
            else:
                item = inner.send(sent)
    except StopIteration as end:
        site.leave(session, step, seen.text())
        return end.value
    except GeneratorExit:
        site.leave(session, step, seen.text())
        raise
    except BaseException as error:  # recorded, and raised again
        site.failed(session, step, error)
        raise


async def drive_async(
    site: Site, session: Session | None, step: int, inner: AsyncGenerator[Any, Any], verdict: Verdict | None
) -> AsyncGenerator[Any, Any]:
    """`drive` for an async generator. Consent can only be waited for here, before the first item."""
    if verdict is not None and not await site.permits_async(verdict):
        raise BlockedCall(verdict)
    seen = Transcript()
    try:
        item = await anext(inner)
        while True:
            seen.add(item)
            try:
                sent = yield item
            except GeneratorExit:
                await inner.aclose()
                raise
            except BaseException as error:  # noqa: BLE001 - it goes where it is meant to go: into the generator
                item = await inner.athrow(error)
            else:
                item = await inner.asend(sent)
    except StopAsyncIteration:
        site.leave(session, step, seen.text())
    except GeneratorExit:
        site.leave(session, step, seen.text())
        raise
    except BaseException as error:  # recorded, and raised again
        site.failed(session, step, error)
        raise
