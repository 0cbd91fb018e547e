"""What lint says of policies that can be used, but are hardly meant."""

from __future__ import annotations

import pytest

from microloop._policy.lint import lint


@pytest.fixture
def said(tmp_path):
    def of(text: str) -> list[tuple[str, str]]:
        path = tmp_path / "p.yaml"
        path.write_text(text, encoding="utf-8")
        return [(finding.severity, finding.message.removeprefix(f"{path}:")) for finding in lint(str(path))]

    return of


def test_a_policy_without_loop_limits_notices_nothing(said):
    [(severity, message)] = said("version: 1\nbudgets: {calls: 3}\n")
    assert severity == "warning"
    assert message.startswith("1:1: stands alone and has no loop limits")
    assert said("version: 1\nextends: balanced\n") == []
    assert said("version: 1\nloops: {repeat: {warn: 3}}\n") == []


def test_doors_that_stand_open_are_pointed_at(said):
    [(_, message)] = said("version: 1\nextends: balanced\non_error: allow\n")
    assert message.startswith("3:11: on_error: allow lets calls run unseen")
    [(_, message)] = said("version: 1\nextends: balanced\nroles: {otherwise: allow, grants: {a: {}}}\n")
    assert "every role may call every tool" in message
    assert said("version: 1\nextends: balanced\nroles: {otherwise: allow, grants: {a: {deny: x}}}\n") == []


def test_entries_that_say_nothing_and_ids_that_are_used_twice_are_pointed_at(said):
    rule = "rules: [{id: r, path: a, deny: {equals: 1}}]"
    found = said(f"version: 1\nextends: balanced\ntools:\n- match: a\n- {{match: b, {rule}}}\n- {{match: c, {rule}}}\n")
    assert [message.partition(":")[0] for _, message in found] == ["4", "6"]
    assert "says nothing about the tools" in found[0][1]
    assert 'the rule id "r" is also used on line 5' in found[1][1]


def test_placeholders_that_are_not_filled_in_are_pointed_at(said):
    [(_, message)] = said("version: 1\nextends: balanced\nmessages: {loop.repeat: '{tol} again, {seen} of {limit}'}\n")
    assert 'messages.loop.repeat: {tol} is not filled in; the nearest known one is "tool"' in message


def test_slow_patterns_are_named_with_their_time_limit(said):
    text = "version: 1\nextends: balanced\ntools: [{match: a, rules: [{id: r, path: a, deny: {regex: 'a(?=b)'}}]}]\n"
    [(severity, message)] = said(text)
    assert (severity, "limit of 0.1 s" in message) == ("hint", True)


def test_all_errors_come_at_once_and_without_advice(said):
    found = said("version: 1\nlops: {}\nbudgets: {cals: 3}\n")
    assert [(severity, message[:4]) for severity, message in found] == [("error", "2:1:"), ("error", "3:11")]
    found = said("version: 1\nloops: {repeat: {warn: 4, block: 3}, cycle: {warn: 4, halt: 3}}\n")
    assert len(found) == 2


def test_what_only_the_core_refuses_is_an_error_too(said, monkeypatch):
    from microloop import PolicyError, _native

    def refuse(_document):
        raise PolicyError("loops: not today")

    monkeypatch.setattr(_native, "new_policy", refuse)
    assert said("version: 1\nextends: balanced\n") == [("error", "loops: not today")]


def test_names_files_and_nothing(tmp_path):
    assert lint("balanced") == []
    (tmp_path / "noname").write_text("version: 1\nextends: balanced\n", encoding="utf-8")
    assert lint(str(tmp_path / "noname")) == []
    [finding] = lint("balancd")
    assert 'the nearest known one is "balanced"' in finding.message
