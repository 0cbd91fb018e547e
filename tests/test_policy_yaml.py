"""Policy files as text: what is read, what is refused, and where the finger points."""

from __future__ import annotations

import json

import pytest

from microloop import Policy, PolicyError
from microloop._policy.nodes import find, plain
from microloop._policy.yaml_reader import MAX_BYTES, read_yaml


def fails(text: str) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        read_yaml(text, "p.yaml")
    return caught.value


def test_every_value_knows_its_line_and_column():
    root = read_yaml("version: 1\nloops:\n  repeat: {warn: 3}\n", "p.yaml")
    mark = find(root, ("loops", "repeat", "warn")).mark
    assert (mark.file, mark.line, mark.column) == ("p.yaml", 3, 18)
    assert root.keys["loops"].line == 2


def test_keys_stay_what_was_written():
    assert plain(read_yaml("on: 1\nno: 2\n1: 3\n~: 4\n", None)) == {"on": 1, "no": 2, "1": 3, "~": 4}


def test_dates_are_text_and_numbers_are_numbers():
    assert plain(read_yaml("[2024-05-14, 3, 1.5, 0x10, true, null, '7']", None)) == [
        "2024-05-14",
        3,
        1.5,
        16,
        True,
        None,
        "7",
    ]


def test_anchors_and_merge_keys_work_and_own_keys_win():
    document = plain(read_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\n", None))
    assert document == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 1, "y": 2}}


def test_json_files_are_read_with_tabs_and_escapes_of_astral_characters():
    text = '{\n\t"version": 1,\n\t"name": "\\ud83d\\ude00"\n}'
    assert plain(read_yaml(text, "p.json")) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("version: 1\nmode: observe\nversion: 1\n", 3, 1, 'key "version" stands twice, first on line 1'),
        ("loops: {repeat: 1", 1, 18, "not YAML"),
        ("a: *b", 1, 4, "undefined alias"),
        ("a: &a [*a]", 1, 4, "contains itself"),
        ("a: !!python/object:os.system {}", 1, 4, "!!python/object:os.system has no place"),
        ("a: !!binary aGk=", 1, 4, "!!binary has no place"),
        ("a: .nan", 1, 4, "not a JSON number"),
        ("a: 1\n? [1]\n: 2\n", 2, 3, "a key must be plain text"),
        ("a: 1\n---\nb: 2\n", 2, 1, "not YAML"),
        ('a: "\\ud800"', 1, 4, "half of a surrogate pair"),
        ("a: 1\nb: \x00", 2, 4, "U+0000"),
    ],
)
def test_what_is_no_policy_text_is_refused_with_its_position(text, line, column, says):
    error = fails(text)
    assert (error.line, error.column) == (line, column), str(error)
    assert says in str(error)
    assert str(error).startswith(f"p.yaml:{line}:{column}: ")


def test_an_empty_document_says_how_to_begin():
    assert "begin with `version: 1`" in str(fails("# nothing\n"))


def test_size_depth_and_expanded_anchors_are_bounded():
    assert str(MAX_BYTES) in str(fails("a: " + "x" * MAX_BYTES))
    assert "deeper than" in str(fails("[" * 2000))
    assert "deeper than" in str(fails("[" * 80 + "]" * 80))
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(30))
    assert "once its anchors are expanded" in str(fails(bomb))


def test_files_that_cannot_be_read_say_why(tmp_path):
    with pytest.raises(PolicyError, match="there is no such file"):
        Policy.load(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"version: 1\nname: caf\xe9\n")
    with pytest.raises(PolicyError, match="not UTF-8 at byte 20"):
        Policy.load(tmp_path / "latin.yaml")
    with pytest.raises(PolicyError, match="cannot be read"):
        Policy.load(tmp_path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbfversion: 1\nname: x\n")
    assert Policy.load(tmp_path / "bom.yaml").name == "x"


@pytest.mark.parametrize("value", [{1, 2}, object(), float("inf"), b"x", {1: 2}])
def test_a_mapping_holds_only_what_json_can_say(value):
    with pytest.raises(PolicyError, match=r"a policy holds|keys must be text"):
        Policy.load({"version": 1, "messages": value})


def test_a_mapping_that_contains_itself_is_refused():
    document: dict[str, object] = {"version": 1}
    document["loops"] = document
    with pytest.raises(PolicyError, match="nested deeper"):
        Policy.load(document)
