"""What a policy file must not say, and what its author is told."""

from __future__ import annotations

import pytest

from microloop import Policy, PolicyError
from microloop._policy.schema import POLICY, published_schema, schema_faults
from microloop._policy.yaml_reader import read_yaml

WRONG = """\
version: 1
loops:
  repat: {warn: 3}
  repeat: {warn: three, block: 2, halt: 0}
tools:
  - match: x
    rules:
      - id: a
        deny: {regex: x}
        require: {equals: 1}
      - id: b
  - match: []
    poll: {deadline: 1.5s}
    loop: {}
rols: 1
messages: {loop.repet: hi}
"""


def message(document) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy.load(document)
    return str(caught.value)


def entry(**fields) -> dict:
    return {"version": 1, "tools": [{"match": "x", **fields}]}


def rule(**fields) -> dict:
    return entry(rules=[{"id": "r", **fields}])


def test_every_fault_is_found_in_the_order_of_the_document():
    found = [(fault.line, fault.column, fault.key) for fault in schema_faults(read_yaml(WRONG, "p.yaml"))]
    assert found == [
        (3, 3, "repat"),
        (4, 18, "warn"),
        (4, 41, "halt"),
        (10, 9, "require"),
        (11, 9, "rules"),
        (12, 12, "match"),
        (13, 22, "deadline"),
        (14, 5, "loop"),
        (15, 1, "rols"),
        (16, 12, "loop.repet"),
    ]


@pytest.mark.parametrize(
    ("key", "near"),
    [("repat", "repeat"), ("loop", "loops"), ("rols", "roles"), ("loop.repet", "loop.repeat")],
)
def test_unknown_keys_name_the_nearest_known_one(key, near):
    faults = {fault.key: str(fault) for fault in schema_faults(read_yaml(WRONG, "p.yaml"))}
    assert f'unknown key "{key}"; the nearest known one is "{near}"' in faults[key]


def test_a_key_in_the_wrong_place_says_where_it_belongs():
    assert "it belongs under tools[]" in message({"version": 1, "poll": {}})
    assert "it belongs under loops" in message({"version": 1, "recur": {"warn": 3}})


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, 'the document has no key "version"; add `version: 1`'),
        ({"version": 2}, "version must be 1; found 2"),
        (
            {"version": 1, "mode": "observ"},
            'mode must be enforce or observe; found "observ"; the nearest known one is "observe"',
        ),
        ({"version": 1, "loops": {"repeat": {"warn": 3.0}}}, "whole number of at least 2"),
        ({"version": 1, "loops": {"repeat": {"warn": True}}}, "found true"),
        ({"version": 1, "loops": {"recur": {"block": 3}}}, 'unknown key "block"'),
        ({"version": 1, "loops": {"repeat": {"warn": 5, "block": 3}}}, "block is 3 but warn is 5"),
        ({"version": 1, "loops": {"repeat": {"warn": 5, "halt": 3}}}, "halt is 3 but warn is 5"),
        ({"version": 1, "budgets": {"per_minute": 99999}}, "at most 10000; found 99999"),
        ({"version": 1, "roles": {"default": "reader"}}, 'roles has no key "grants"'),
        ({"version": 1, "roles": {"default": "redaer", "grants": {"reader": {}}}}, 'the nearest known one is "reader"'),
        ({"version": 1, "tools": [{}]}, 'tools[0] has no key "match"'),
        (entry(match=""), "tools[0].match must be"),
        (entry(poll={}), "tools[0].poll must be a mapping with deadline, interval or both"),
        (entry(poll={"deadline": "1s", "interval": "5s"}), "interval 5s is longer than deadline 1s"),
        (
            entry(loops={"retry": {"backoff": {"base": "5s", "factor": 2, "max": "1s"}}}),
            "base 5s is longer than max 1s",
        ),
        (entry(loops={"retry": {"backoff": {"base": "5s"}}}), 'has no key "factor"'),
        (entry(loops={"text": {"warn": 3}}), 'unknown key "text"'),
        (entry(effect="reads"), "read, write, idempotent or null"),
        (entry(arguments={"type": "strin"}), "not a JSON Schema"),
        (entry(arguments={"$schema": "urn:x"}), '$schema "urn:x" is not known'),
        (entry(arguments={"$ref": "https://example.com/a.json"}), "leaves the document"),
        (entry(arguments={"items": {"$ref": "#/$defs/none"}}), "leads nowhere"),
        (rule(), "says neither deny, require nor ask"),
        (rule(path="a", deny={"equals": 1}, ask={"equals": 1}), "has deny and ask"),
        (rule(path="a", deny={}), "known are regex, equals, one_of, range, max_length"),
        (rule(path="a", deny={"one_of": []}), "at least 1 element"),
        (rule(path="a", deny={"range": {"min": 3, "max": 1}}), "min 3 is above max 1"),
        (rule(path="a..b", deny={"equals": 1}), 'path "a..b" cannot be read from character 2 on'),
        (rule(path="a[x]", deny={"equals": 1}), "cannot be read from character 2 on"),
        (rule(path=".".join("a" * 33), deny={"equals": 1}), "has 33 parts, more than 32"),
        (rule(deny={"regex": "x"}), "does not say which argument; add `path:`"),
        (rule(path="a", deny={"regex": "(x"}), "rule r: not a regular expression"),
        (rule(path="a", deny={"regex": "(?<=x"}), "rule r: not a regular expression"),
    ],
)
def test_wrong_documents_say_what_was_expected_and_what_was_found(document, says):
    assert says in message(document)


def test_a_tool_s_limits_are_compared_with_the_general_ones_that_they_leave():
    document = {
        "version": 1,
        "loops": {"near": {"warn": 5, "block": 10}},
        "tools": [{"match": "x", "loops": {"near": {"warn": 20}}}],
    }
    assert "tools[0].loops.near: block is 10 but warn is 20" in message(document)


def test_the_same_rule_id_twice_in_one_entry_is_an_error_and_in_two_entries_is_not():
    same = {"id": "r", "path": "a", "deny": {"equals": 1}}
    assert 'the id "r" stands twice in this entry' in message(entry(rules=[same, same]))
    assert Policy.load({"version": 1, "tools": [{"match": "x", "rules": [same]}, {"match": "y", "rules": [same]}]})


def test_references_within_a_schema_and_to_its_own_id_are_fine():
    schema = {
        "$id": "urn:a",
        "$defs": {"n": {"type": "integer"}},
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "urn:a#/$defs/n"}},
        "examples": [{"$ref": "https://example.com/not-a-reference"}],
    }
    assert Policy.load(entry(arguments=schema)).document["tools"][0]["arguments"] == schema


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"])
def test_every_supported_draft_is_known(draft):
    middle = f"draft/{draft}" if draft[0] == "2" else draft
    address = f"http{'s' if draft[0] == '2' else ''}://json-schema.org/{middle}/schema"
    assert Policy.load(entry(arguments={"$schema": address, "type": "object"}))


def test_the_error_carries_file_line_column_and_key(tmp_path):
    path = tmp_path / "team.yaml"
    path.write_text("version: 1\nbudgets:\n  cals: 3\n")
    with pytest.raises(PolicyError) as caught:
        Policy.load(path)
    error = caught.value
    assert (error.path, error.line, error.column, error.key) == (str(path), 3, 3, "cals")


def test_the_published_schema_is_a_schema_in_which_everything_is_described():
    import jsonschema

    schema = published_schema(POLICY)
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, section in schema["properties"].items():
        assert "description" in section or "description" in schema["$defs"][section["$ref"].rpartition("/")[2]], name


def test_the_examples_of_the_schema_are_valid_by_it():
    import jsonschema

    definitions = published_schema(POLICY)["$defs"]
    for name, definition in definitions.items():
        checker = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})
        for example in definition.get("examples", ()):
            assert list(checker.iter_errors(example)) == [], name
