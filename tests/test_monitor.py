"""The monitor: where a run stands after each step, and what it asks for."""

from __future__ import annotations

import pickle
import threading

import pytest

from microloop import Decision, InterventionAction, Monitor, Policy, PolicyError, Status

REPLAN = Policy(stalled=InterventionAction.Replan, regressing=InterventionAction.Stop, cooldown_steps=5)


def statuses(monitor, steps, **more):
    return [str(monitor.observe(action, observation, **more).status) for action, observation in steps]


def stuck(monitor, times=5):
    return [monitor.observe("ls", "a.txt and nothing else") for _ in range(times)]


def failing(monitor, counts, name="tests", **metadata):
    told = {"verifier": name, **metadata}
    noise = monitor.latest.step
    return [
        str(monitor.observe(f"make {name}", f"see log {noise}{at}", metrics={"failures": n}, metadata=told).status)
        for at, n in enumerate(counts)
    ]


def test_the_loop_of_the_documentation_runs():
    class Agent:
        def __init__(self):
            self.injected = []

        def steps(self):
            for _ in range(6):
                yield type("Step", (), {"action": "ls", "result": "a.txt", "state": {"cwd": "/"}, "exit_code": 0})

        def inject(self, text):
            self.injected.append(text)

    agent = Agent()
    monitor = Monitor(
        policy=Policy(stalled=InterventionAction.Replan, regressing=InterventionAction.Stop, cooldown_steps=5)
    )
    for step in agent.steps():
        decision = monitor.observe(
            action=step.action, observation=step.result, state=step.state, metrics={"exit_code": step.exit_code}
        )
        if decision.should_intervene:
            agent.inject(decision.recovery_context)
    assert len(agent.injected) == 1
    assert agent.injected[0].startswith("This run is stalled: ")


def test_without_a_policy_it_only_watches():
    decisions = stuck(Monitor(), 12)
    assert decisions[-1].status is Status.STALLED
    assert not any(decision.should_intervene or decision.recovery_context for decision in decisions)


def test_it_asks_once_and_then_not_for_the_steps_of_the_cooldown():
    asked = [decision.step for decision in stuck(Monitor(REPLAN), 17) if decision.should_intervene]
    assert asked == [5, 11, 17]


def test_the_evidence_names_the_steps_and_the_reason():
    decision = stuck(Monitor())[-1]
    assert decision.reasons == ("loop.repeat",)
    assert decision.evidence[0].steps == (1, 2, 3, 4)
    assert decision.evidence[0].why in decision.feedback


def test_a_healthy_step_has_no_evidence_and_no_feedback():
    decision = Monitor().observe("ls", "a.txt")
    assert (decision.evidence, decision.reasons, decision.feedback, decision.unread) == ((), (), "", ())


def test_evidence_that_is_looked_at_late_is_still_that_of_its_step():
    monitor = Monitor()
    decision = stuck(monitor)[-1]
    statuses(monitor, [(f"cat {n}", f"text {n}") for n in range(200)])
    assert decision.evidence[0].steps == (1, 2, 3, 4)


def test_what_was_asked_for_keeps_its_text_however_long_the_run_goes_on():
    monitor = Monitor(REPLAN)
    decision = next(decision for decision in stuck(monitor, 300) if decision.should_intervene)
    assert decision.recovery_context.startswith("This run is stalled: ")


def test_evidence_that_nobody_looked_at_is_gone_after_64_unhealthy_steps():
    decisions = stuck(Monitor(), 300)
    assert decisions[4].evidence == ()
    assert decisions[-1].evidence != ()


def test_three_new_things_in_a_row_end_a_stall_and_one_does_not():
    monitor = Monitor()
    stuck(monitor)
    assert statuses(monitor, [(f"cat {n}", f"text {n}") for n in range(3)]) == ["stalled", "stalled", "healthy"]


@pytest.mark.parametrize(
    "steps",
    [
        [("status", f"{n} of 30 files copied") for n in range(30)],
        [(f"search page {n}", f"result {n} and result {n + 1}") for n in range(30)],
        [step for n in range(15) for step in ((f"edit {n}", "The file has been edited."), ("run", f"{n} lines"))],
        [("cat log", "x" * 100_000 + str(n)) for n in range(10)],
    ],
    ids=["a poll that changes", "new pages", "runs after edits", "long outputs that differ at the end"],
)
def test_what_brings_something_new_is_no_stall(steps):
    assert set(statuses(Monitor(), steps)) == {"healthy"}


def test_the_line_of_an_error_that_informs_counts_and_not_its_banner():
    banner = "Traceback (most recent call last):\n  File 'a.py', line {n}, in f\n{why}"
    same = [(f"run {n}", banner.format(n=n, why="ValueError: no such column")) for n in range(8)]
    other = [(f"run {n}", banner.format(n=1, why=f"ValueError: no such {what}")) for n, what in enumerate("abcdefgh")]
    assert statuses(Monitor(), same)[-1] == "stalled"
    assert set(statuses(Monitor(), other)) == {"healthy"}


def test_fewer_failures_than_ever_are_verified_progress():
    monitor = Monitor()
    decisions = [monitor.observe("make test", f"run {n}", metrics={"failures": n}) for n in (5, 3, 4, 3, 2)]
    assert [decision.verified_progress for decision in decisions] == [False, True, False, False, True]
    assert decisions[1].reasons == ("verifier.better",)


def test_a_higher_score_is_better():
    monitor = Monitor()
    decisions = [monitor.observe(f"try {n}", f"run {n}", metrics={"score": n / 10}) for n in (3, 5, 4, 4)]
    assert [str(decision.status) for decision in decisions] == ["healthy", "healthy", "warning", "regressing"]
    assert decisions[1].verified_progress


def test_a_second_worse_reading_is_a_regression_until_the_check_is_back():
    monitor = Monitor()
    assert failing(monitor, [5, 2, 4, 4, 4]) == ["healthy", "healthy", "warning", "regressing", "regressing"]
    assert "regressing" not in failing(monitor, [2])


def test_checks_of_different_names_are_not_compared():
    monitor = Monitor()
    seen = [failing(monitor, [n], name)[0] for n, name in ((1, "unit"), (9, "lint"), (1, "unit"), (8, "lint"))]
    assert set(seen) == {"healthy"}


def test_one_verification_that_is_told_with_every_step_is_one_reading():
    monitor = Monitor()
    failing(monitor, [2], verification_id="first")
    assert "regressing" not in failing(monitor, [4] * 9, verification_id="second")
    assert failing(monitor, [4], verification_id="third") == ["regressing"]


def test_an_exit_code_is_a_reading_only_of_a_named_check():
    def after(metadata):
        monitor = Monitor()
        codes = (0, 1, 1)
        return [
            str(monitor.observe("make", f"{n} lines", metrics={"exit_code": code}, metadata=metadata).status)
            for n, code in enumerate(codes)
        ]

    assert after({"verifier": "build"})[-1] == "regressing"
    assert "regressing" not in after(None)


def test_failures_that_a_runner_prints_are_read_where_nobody_tells_them():
    monitor = Monitor()
    outputs = ("3 failed, 1 passed in 0.10s", "1 failed, 3 passed in 0.10s")
    assert [monitor.observe("pytest", output).verified_progress for output in outputs] == [False, True]


def test_an_error_in_the_metadata_makes_the_step_a_failure():
    monitor = Monitor()
    steps = [monitor.observe(f"open {n}", metadata={"error": "the disk is not mounted"}) for n in range(8)]
    assert steps[-1].reasons == ("loop.error",)


def test_the_same_text_in_another_state_of_the_world_is_no_repeat():
    monitor = Monitor()
    assert {str(monitor.observe("click", "clicked", state={"page": n}).status) for n in range(20)} == {"healthy"}
    same = [str(monitor.observe("click", "clicked", state={"page": 3}).status) for _ in range(8)]
    assert same[-1] == "stalled"


def test_other_numbers_belong_to_the_state_unless_they_tell_what_the_step_cost():
    rows, tokens = Monitor(), Monitor()
    assert {str(rows.observe("load", "ok then", metrics={"rows": n}).status) for n in range(9)} == {"healthy"}
    assert tokens_spent(tokens)[-1] == "stalled"


def tokens_spent(monitor):
    return [str(monitor.observe("load", "ok then", metrics={"tokens": n}).status) for n in range(9)]


def test_when_the_person_speaks_the_run_begins_anew_but_a_best_reading_stays():
    monitor = Monitor()
    stuck(monitor)
    failing(monitor, [2])
    monitor.user_turn()
    assert monitor.status is Status.HEALTHY
    assert failing(monitor, [3, 3]) == ["warning", "regressing"]


def test_calls_of_tools_are_judged_by_the_entries_of_the_policy():
    policy = {
        "version": 1,
        "extends": "balanced",
        "tools": [{"match": "job", "poll": {"deadline": "1h"}, "volatile": "trace"}],
    }
    waiting, noisy = Monitor(policy), Monitor({**policy, "tools": [{"match": "job", "volatile": "trace"}]})
    steps = [({"tool": "job", "arguments": {"id": 7, "trace": n}}, "still running") for n in range(8)]
    assert set(statuses(waiting, steps)) == {"healthy"}
    assert statuses(noisy, steps)[-1] == "stalled"


def test_rules_roles_and_budgets_of_the_policy_say_nothing_to_it():
    policy = Policy(
        budgets={"calls": 2},
        roles={"grants": {"reader": {"allow": "nothing"}}},
        tools=[{"match": "*", "rules": [{"id": "none", "require": {"max_length": 0}}], "limit": {"calls": 1}}],
    )
    monitor = Monitor(policy)
    steps = [({"tool": "read", "arguments": {"n": n}}, f"text {n}") for n in range(5)]
    assert set(statuses(monitor, steps)) == {"healthy"}


def test_a_wrong_policy_is_said_at_once():
    with pytest.raises(PolicyError):
        Monitor("no such policy")


def test_the_latest_decision_can_be_asked_for_between_two_steps():
    monitor = Monitor()
    assert monitor.status is Status.HEALTHY
    last = stuck(monitor)[-1]
    assert (monitor.status, monitor.latest.step) == (Status.STALLED, last.step)
    assert monitor.latest.evidence == last.evidence


def test_a_decision_goes_to_another_process_with_its_evidence():
    decision = stuck(Monitor())[-1]
    copy = pickle.loads(pickle.dumps(decision))
    assert isinstance(copy, Decision)
    assert copy.as_dict() == decision.as_dict()
    assert copy.as_dict()["evidence"][0]["reason"] == "loop.repeat"


def test_a_decision_outlives_its_monitor():
    assert stuck(Monitor())[-1].reasons == ("loop.repeat",)


def test_monitors_are_runs_of_their_own():
    stuck(Monitor(), 4)
    assert Monitor().observe("ls", "a.txt and nothing else").status is Status.HEALTHY


def test_ten_thousand_monitors_at_once_are_ten_thousand_runs():
    monitors = [Monitor() for _ in range(10_000)]
    for monitor in monitors[::100]:
        stuck(monitor, 5)
    assert [monitor.status for monitor in monitors[:201:50]] == [Status.STALLED, Status.HEALTHY] * 2 + [Status.STALLED]


def test_threads_may_share_a_monitor():
    monitor, found = Monitor(), []

    def work(name):
        for n in range(300):
            metrics = {"failures": 300 - n} if n % 3 == 0 else None
            state = f"{name} {n}" if n % 5 == 0 else None
            found.append(monitor.observe(f"{name} {n}", f"text {n} of {name}", metrics=metrics, state=state))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(decision.step for decision in found) == list(range(1, 1201))
    assert not any(decision.unread for decision in found)
