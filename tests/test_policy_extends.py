"""Policies on top of policies: what is inherited, replaced, and taken away."""

from __future__ import annotations

import pytest

from microloop import InterventionAction, Policy, PolicyError


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_mappings_are_merged_key_by_key_and_null_takes_away():
    base = Policy.load("balanced").document
    loops = {"repeat": {"halt": 20, "warn": None}, "cycle": None}
    document = Policy.load({"version": 1, "extends": "balanced", "loops": loops}).document
    assert document["loops"]["repeat"] == {"block": base["loops"]["repeat"]["block"], "halt": 20}
    assert "cycle" not in document["loops"]
    assert document["loops"]["error"] == base["loops"]["error"]
    assert "extends" not in document


def test_tools_follow_those_of_the_base_and_keep_their_nulls():
    entry = {"match": "x", "effect": None, "loops": {"repeat": {"block": None}}}
    document = Policy.load({"version": 1, "extends": "balanced", "tools": [entry]}).document
    assert document["tools"][-1] == entry
    assert document["tools"][:-1] == Policy.load("balanced").document["tools"]


def test_name_and_description_are_not_inherited(tmp_path):
    path = write(tmp_path, "team.yaml", "version: 1\nextends: balanced\n")
    assert (Policy.load(path).name, Policy.load(path).description) == ("team", "")


def test_chains_of_paths_start_at_the_file_that_names_them(tmp_path):
    write(tmp_path, "base.yaml", "version: 1\nbudgets: {calls: 7, per_minute: 5}\n")
    write(tmp_path / "teams", "one.yaml", "version: 1\nextends: ../base.yaml\nbudgets: {calls: 8}\n")
    path = write(tmp_path, "two.yaml", "version: 1\nextends: teams/one.yaml\nbudgets: {per_minute: null}\n")
    assert Policy.load(path).document["budgets"] == {"calls": 8}


def test_a_path_without_a_suffix_is_written_with_its_folder(tmp_path):
    write(tmp_path, "base", "version: 1\nbudgets: {calls: 7}\n")
    path = write(tmp_path, "top.yaml", "version: 1\nextends: ./base\n")
    assert Policy.load(path).document["budgets"] == {"calls": 7}


def test_circles_are_told_with_all_their_members(tmp_path):
    write(tmp_path, "a.yaml", "version: 1\nextends: ./b.yaml\n")
    write(tmp_path, "b.yaml", "version: 1\nextends: ./a.yaml\n")
    with pytest.raises(PolicyError, match=r"goes round in a circle: a\.yaml → b\.yaml → a\.yaml") as caught:
        Policy.load(tmp_path / "a.yaml")
    assert (caught.value.line, caught.value.key) == (2, "extends")


def test_very_long_chains_are_refused(tmp_path):
    for number in range(20):
        write(tmp_path, f"p{number}.yaml", f"version: 1\nextends: ./p{number + 1}.yaml\n")
    with pytest.raises(PolicyError, match="chain of more than 16"):
        Policy.load(tmp_path / "p0.yaml")


def test_an_unknown_name_names_the_nearest_one_and_points_at_extends(tmp_path):
    path = write(tmp_path, "team.yaml", "version: 1\nextends: balancd\n")
    with pytest.raises(PolicyError, match='the nearest known one is "balanced"'):
        Policy.load(path)


def test_a_fault_that_only_the_whole_has_points_at_its_own_line(tmp_path):
    path = write(tmp_path, "team.yaml", "version: 1\nextends: balanced\nloops:\n  repeat: {block: 30}\n")
    with pytest.raises(PolicyError, match=r"loops\.repeat: halt is 8 but block is 30"):
        Policy.load(path)


def test_a_fault_in_the_base_is_told_with_the_base_s_file(tmp_path):
    write(tmp_path, "base.yaml", "version: 1\nbudget: {calls: 7}\n")
    path = write(tmp_path, "top.yaml", "version: 1\nextends: ./base.yaml\n")
    with pytest.raises(PolicyError, match=r"base\.yaml:2:1: budget: unknown key"):
        Policy.load(path)


def test_without_extends_a_document_stands_alone():
    assert Policy.load({"version": 1}).document == {"version": 1, "name": "custom"}


def test_the_constructor_extends_balanced_and_fills_progress():
    policy = Policy(stalled=InterventionAction.Replan, regressing=InterventionAction.Stop, cooldown_steps=5)
    assert policy.document["progress"] == {"stalled": "replan", "regressing": "stop", "cooldown_steps": 5}
    assert (policy.stalled, policy.regressing, policy.cooldown_steps) == ("replan", "stop", 5)
    assert policy.document["loops"] == Policy.load("balanced").document["loops"]
    assert Policy(extends=None).document == {"version": 1, "name": "custom"}


def test_the_constructor_takes_every_section():
    policy = Policy(
        name="mine",
        description="Mine.",
        mode="observe",
        on_error="allow",
        limits={"argument_bytes": 1000},
        loops={"recur": None},
        tools=({"match": "x", "on_error": "block"},),
        roles={"grants": {"r": {"allow": "*"}}},
        budgets={"calls": 3},
        messages={"loop.repeat": "Again?"},
    )
    assert (policy.name, policy.description, policy.mode, policy.on_error) == ("mine", "Mine.", "observe", "allow")
    assert (policy.on_error_of("X"), policy.on_error_of("y")) == ("block", "allow")
    assert policy.document["limits"] == {"argument_bytes": 1000}


def test_a_policy_does_not_change():
    policy = Policy.load("balanced")
    policy.document["loops"].clear()
    assert policy.document["loops"]
    assert Policy.load(policy) is policy
    assert policy == Policy.load("balanced")
    assert len({policy, Policy.load("balanced"), Policy.load("observe")}) == 2
    assert repr(policy) == "<Policy balanced>"


def test_wrong_arguments_of_the_constructor_are_policy_errors():
    with pytest.raises(PolicyError, match=r'progress\.stalled must be .*; found "replay"'):
        Policy(stalled="replay")
    with pytest.raises(PolicyError, match="cooldown_steps"):
        Policy(cooldown_steps=-1)
