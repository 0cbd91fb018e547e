"""`Guardrail`: may this call run?"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

from microloop import _native, ambient, asking
from microloop._native import lib
from microloop.coverage import Coverage, Covered
from microloop.entered import Entered
from microloop.errors import SessionError
from microloop.given import check_text, no_verdict, wrong_type
from microloop.judgement import fault, judge, nameless
from microloop.policy import Policy
from microloop.registry import Registry
from microloop.tools import BY_NAME, Tool, Toolbox
from microloop.verdict import Verdict

if TYPE_CHECKING:
    from microloop.policy import Source
    from microloop.session import Session
    from microloop.standing import Standing

T = TypeVar("T")
OnBlock: TypeAlias = Literal["raise", "return"]
Ask: TypeAlias = "Callable[[Verdict], bool | Awaitable[bool]]"
Arguments: TypeAlias = "Mapping[str, Any] | str | bytes"


class Guardrail:
    """Decides before every call of a tool whether it may run, by one policy.

    `policy` is a name, a path, a mapping or a `Policy`. `on_block` says what a decorated function does when its call is
    refused: `"raise"` raises `BlockedCall`, `"return"` returns the feedback; by default it returns the feedback where a
    LangChain tool hands it to the model, and raises elsewhere. `ask` decides about calls that need consent; without
    it they are refused. A halt always raises `RunHalted`.

    >>> guard = Guardrail(policy="strict_loop_detection")
    >>> @guard.verify
    ... def search(q: str) -> str:
    ...     return "nothing found"
    >>> search("cats")
    'nothing found'
    """

    def __init__(
        self,
        policy: Source = "balanced",
        *,
        on_block: OnBlock | None = None,
        ask: Ask | None = None,
        role: str | None = None,
        max_sessions: int = 10_000,
    ) -> None:
        if on_block not in (None, "raise", "return"):
            raise ValueError(f'on_block is {on_block!r}; it is "raise", "return" or None')
        if ask is not None and not callable(ask):
            raise wrong_type("ask", ask, "a function that takes a verdict", "it says whether the call may run")
        if role is not None:
            check_text("role", role, "pass the name of a role of the policy")
        self.policy = Policy.load(policy)
        self.on_block = on_block
        self.ask = ask
        self.role = role
        self.lock = threading.Lock()
        handle = _native.new_policy(self.policy.native_json)
        weakref.finalize(self, lib.microloop_policy_free, handle)
        self._tools = Toolbox(self.policy, handle)
        self._registry = Registry(self, handle, max_sessions)
        self._coverage = Coverage()
        self._default: Session | None = None
        self.entered = Entered(self.lock)
        self.current = self.entered.current

    # Decorate

    @overload
    def verify(self, target: T, /) -> T: ...
    @overload
    def verify(
        self, /, *, name: str | None = None, schema: Mapping[str, Any] | Literal[False] | None = None
    ) -> Callable[[T], T]: ...
    def verify(
        self,
        target: Any = None,
        /,
        *,
        name: str | None = None,
        schema: Mapping[str, Any] | Literal[False] | None = None,
    ) -> Any:
        """Guards a function: each call is checked before it runs and recorded when it is done.

        It takes functions, methods, coroutine functions, generators and async generators. `name` is the tool's name in
        the policy; `schema` takes the place of the JSON Schema made from the annotations, `False` means none.

        >>> guard = Guardrail()
        >>> @guard.verify(name="calculator.add")
        ... def add(a: int, b: int) -> int:
        ...     return a + b
        >>> add(1, b=2)
        3
        """
        from microloop.verify import guarded

        if target is None:
            return lambda function: guarded(self, function, name, schema)
        return guarded(self, target, name, schema)

    def wrap(self, tools: Any) -> Any:
        """Guards tools that exist already: one, or a list of them, of any framework that has an adapter.

        >>> guard = Guardrail()
        >>> guard.wrap([len])[0]("four")
        4
        """
        from microloop.wrap import wrapped

        if isinstance(tools, (list, tuple)):
            return [wrapped(self, tool) for tool in tools]
        return wrapped(self, tools)

    # Check and record

    def check(
        self, tool: str, arguments: Arguments, *, call_id: str | None = None, batch: str | None = None
    ) -> Verdict:
        """The verdict on a call that is about to be made, in the current session.

        >>> Guardrail().check("search", {"q": "cats"}).allowed
        True
        """
        return self.judge(self.here(), tool, arguments, call_id=call_id, batch=batch)

    def record(
        self,
        verdict: Verdict,
        outcome: object = None,
        *,
        error: BaseException | str | None = None,
        measures: Mapping[str, Any] | None = None,
    ) -> None:
        """What came of a call that was let through: its result, or its error.

        >>> guard = Guardrail()
        >>> guard.record(guard.check("search", {"q": "cats"}), ["a cat", "another cat"])
        """
        self._session_of(verdict).record(verdict, outcome, error=error, measures=measures)

    def cancel(self, verdict: Verdict) -> None:
        """A call that was let through and did not run after all."""
        self._session_of(verdict).cancel(verdict)

    def permits(self, verdict: Verdict) -> bool:
        """Whether the call may run, asking whoever decides where the verdict is `ask`."""
        return asking.permits(self, verdict)

    async def apermits(self, verdict: Verdict) -> bool:
        """`permits` for a decider that is a coroutine function."""
        return await asking.apermits(self, verdict)

    def judge(
        self,
        session: Session,
        tool: str,
        arguments: Arguments,
        *,
        call_id: str | None = None,
        batch: str | None = None,
    ) -> Verdict:
        """`check` in a session of your choice."""
        if not tool:
            return nameless(session)
        found = None
        try:
            found = self._tools.find(tool)
            return judge(session, found, arguments, call_id, batch)
        except SessionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails in us, `on_error` decides, and it is logged
            return fault(found or Tool(tool, BY_NAME, self.policy.on_error), session, error)

    # Sessions

    def session(
        self,
        id: str | None = None,  # noqa: A002 - a session's id, in the words of the public API
        *,
        role: str | None = None,
        parent: Session | None = None,
    ) -> Session:
        """The session of that id, made if it is not open. Without an id it is new, and ends with its `with` block.

        >>> guard = Guardrail()
        >>> with guard.session("run-7") as session:
        ...     guard.session("run-7") is session
        True
        """
        return self._registry.open(id, role, parent)

    def restore(self, id: str, saved: bytes) -> Session:  # noqa: A002 - a session's id, in the words of the public API
        """A session that goes on where a saved one stood (`Session.save`), under the same policy.

        Its time goes on by what has passed on the wall clock. Bytes of another policy, of another version or damaged
        ones raise `SessionError`; begin a new session then.

        >>> guard = Guardrail()
        >>> saved = guard.session("run-7").save()
        >>> guard.session("run-7").close()
        >>> guard.restore("run-7", saved)
        <Session run-7>
        """
        return self._registry.restore(id, saved)

    def here(self) -> Session:
        """The current session: the innermost `with`, else the LangGraph run, else the guard's own."""
        session = self.current.get()
        if session is not None:
            return session
        run = ambient.current_run()
        if run is None:
            return self._default or self._open_default()
        session = self._registry.find(run.id) or self.session(run.id)
        session.entered_run(run.marker)
        return session

    def _open_default(self) -> Session:
        session = self._registry.open(None, None, None)
        session.anonymous = False  # an adapter enters it for each call, and it goes on
        with self.lock:
            self._default = self._default or session
            return self._default

    def forget(self, session: Session) -> None:
        """Lets go of a session that is being closed."""
        self._registry.forget(session)

    @property
    def last_verdict(self) -> Verdict | None:
        """The latest verdict of the current session that was more than a plain allow."""
        return self.here().last_verdict

    @property
    def monitor(self) -> Standing:
        """Where the current session stands: whether the run is still getting anywhere.

        >>> str(Guardrail().monitor.status)
        'healthy'
        """
        return self.here().monitor

    # Tools

    def tool(self, name: str, schema: Mapping[str, Any] | None = None) -> Tool:
        """Declares a tool with the JSON Schema of its arguments, for hosts that call `check` themselves.

        >>> guard = Guardrail()
        >>> _ = guard.tool("search", {"type": "object", "required": ["q"]})
        >>> guard.check("search", {}).reason
        'args.schema'
        """
        return self._tools.declare(name, schema)

    def undeclarable(self, name: str, error: Exception) -> None:
        """Notes that a tool cannot be declared: its calls follow `on_error`, and no other tool is affected.

        For adapters, which meet the tools of others. With `on_error: allow` its calls are checked without a schema.

        >>> guard = Guardrail()
        >>> guard.undeclarable("search", ValueError("no such type: txt"))
        >>> guard.check("search", {}).reason
        'guard.fault'
        """
        self._tools.undeclarable(name, error)

    def coverage(self) -> list[Covered]:
        """Which tools are guarded, and by which hook.

        >>> guard = Guardrail()
        >>> @guard.verify
        ... def search(q: str) -> str: ...
        >>> [(each.tool, each.hook) for each in guard.coverage()]
        [('search', 'verify')]
        """
        return self._coverage.all()

    def covers(self, tool: str, hook: str, where: str = "") -> None:
        """Notes that a hook guards a tool, for `coverage`."""
        self._coverage.add(Covered(tool, hook, where))

    def _session_of(self, verdict: Verdict) -> Session:
        if not isinstance(verdict, Verdict):
            raise no_verdict(verdict)
        session: Session | None = verdict.session
        if session is None or session.guard is not self:
            whose = "another guard" if session is not None else "no check"
            raise SessionError(
                f"this verdict on {verdict.tool or 'a call'} comes from {whose}; record what check returned"
            )
        return session
