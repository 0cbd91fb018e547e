"""Many threads: sessions in parallel, and one session used from everywhere."""

from __future__ import annotations

import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

from microloop import Action, BlockedCall, Guardrail

# Its own limits, so that tuning the named policies changes nothing here.
STRICT = {
    "version": 1,
    "loops": {"repeat": {"warn": 2, "block": 3, "halt": 5}, "error": {"warn": 3, "block": 8}, "text": {"warn": 3}},
}
THREADS = 8


def together(work, threads=THREADS):
    """Runs `work(number)` in so many threads that all begin at the same moment."""
    barrier = threading.Barrier(threads)

    def one(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(threads)))


def test_one_session_counts_every_call_of_every_thread():
    guard = Guardrail()
    session = guard.session("run")

    def work(number):
        for step in range(200):
            verdict = session.check("fetch", {"thread": number, "step": step})
            session.record(verdict, f"{number}/{step}")

    together(work)
    state = session.state()
    assert (state["steps"], state["calls"]) == (THREADS * 200, THREADS * 200)


def test_identical_calls_from_many_threads_run_as_often_as_the_limit_says():
    guard = Guardrail(STRICT)
    session = guard.session("run")
    session.record(session.check("search", {"q": "cats"}), "nothing found")
    allowed = [verdict.allowed for verdict in together(lambda _: session.check("search", {"q": "cats"}))]
    assert allowed.count(True) == 1


def test_sessions_in_parallel_never_mix():
    guard = Guardrail()

    @guard.verify
    def search(q):
        return "nothing found"

    def work(number):
        with guard.session(f"run-{number}"):
            ran = 0
            for _ in range(6):
                try:
                    search("cats")
                except BlockedCall:
                    continue
                ran += 1
            return ran

    assert together(work) == [4] * THREADS


def test_a_thread_starts_outside_of_every_session_and_a_copied_context_inside():
    guard = Guardrail()
    with guard.session("run") as session, ThreadPoolExecutor(1) as pool:
        context = contextvars.copy_context()
        assert pool.submit(guard.here).result() is not session
        assert pool.submit(context.run, guard.here).result() is session


def test_one_id_opened_from_many_threads_is_one_session():
    guard = Guardrail()
    assert len({id(session) for session in together(lambda _: guard.session("run"))}) == 1


def test_the_default_session_is_made_once():
    guard = Guardrail()
    assert len({id(session) for session in together(lambda _: guard.here())}) == 1


def test_a_session_may_be_entered_from_many_threads():
    guard = Guardrail()
    session = guard.session("run")

    def work(_):
        for _ in range(50):
            with session:
                assert guard.here() is session

    together(work)
    assert session.entered == 0


def test_sessions_opened_and_closed_at_once_leave_nothing_behind():
    guard = Guardrail(max_sessions=4)

    def work(number):
        for step in range(100):
            with guard.session(f"{number}-{step}") as session:
                session.record(session.check("search", {}), "x")
            session.close()
            with guard.session() as anonymous:
                assert anonymous.check("search", {}).action is Action.ALLOW
        return True

    assert all(together(work))


def test_a_session_closed_under_way_is_an_error_and_never_a_crash():
    guard = Guardrail()
    session = guard.session("run")
    refused = []

    def work(number):
        try:
            for step in range(2_000):
                if number == 0 and step == 100:
                    session.close()
                session.record(session.check("fetch", {"n": number, "s": step}), step)
        except Exception as error:  # noqa: BLE001 - what kind it is, is the point
            refused.append(type(error).__name__)

    together(work)
    assert set(refused) == {"SessionError"}


def test_decorating_in_many_threads_declares_each_tool():
    guard = Guardrail()

    def work(number):
        def tool(q):
            return q

        tool.__name__ = f"tool_{number}"
        return guard.verify(tool)(number)

    assert together(work) == list(range(THREADS))
    assert len(guard.coverage()) == THREADS
