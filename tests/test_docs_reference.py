"""The reference says neither more nor less than the code: keys, reasons, commands, names, functions, numbers."""

from __future__ import annotations

import inspect
import re

import click
import pytest
import yaml

import docs_named_policies
import microloop
from docs_pages import DOCS, ROOT, blocks, first_column, sections
from microloop import Covered, Decision, Guardrail, Monitor, Policy, Session, Verdict
from microloop._policy.schema import published_schema
from microloop.cli.app import app

REFERENCE = DOCS / "reference"
SCHEMA = published_schema()
OBJECTS = {
    "Top level": SCHEMA,
    "limits": SCHEMA["properties"]["limits"],
    "loops": SCHEMA["$defs"]["loops"],
    "levels": SCHEMA["$defs"]["levels"],
    "hard levels": SCHEMA["$defs"]["hardLevels"],
    "retry": SCHEMA["$defs"]["retry"],
    "backoff": SCHEMA["$defs"]["retry"]["properties"]["backoff"],
    "tools": SCHEMA["$defs"]["tool"],
    "poll": SCHEMA["$defs"]["tool"]["properties"]["poll"],
    "limit": SCHEMA["$defs"]["tool"]["properties"]["limit"],
    "rules": SCHEMA["$defs"]["rule"],
    "conditions": SCHEMA["$defs"]["conditions"],
    "roles": SCHEMA["$defs"]["roles"],
    "grants": SCHEMA["$defs"]["roles"]["properties"]["grants"]["additionalProperties"],
    "budgets": SCHEMA["properties"]["budgets"],
    "progress": SCHEMA["properties"]["progress"],
}
# What adapters and the package itself need, and no user.
INTERNAL = {
    Guardrail: {"covers", "enter", "forget", "judge", "leave", "undeclarable"},
    Session: {"anonymous", "entered", "entered_run", "failure", "guard", "handle", "notes", "put", "verdict"},
    Decision: set(),
    Monitor: set(),
    Policy: {"native_json", "slow_rules"},
    Verdict: set(),
}
HEADER = (ROOT / "libmicroloop" / "capi" / "include" / "microloop.h").read_text(encoding="utf-8")


@pytest.mark.parametrize("heading", OBJECTS)
def test_each_key_of_a_policy_is_described(heading):
    described = first_column(sections(REFERENCE / "policy.md")[heading])
    assert described == list(OBJECTS[heading]["properties"])


@pytest.mark.parametrize("block", [each for each in blocks(REFERENCE / "policy.md") if each.kind == "yaml"])
def test_each_example_of_the_policy_reference_is_a_policy(block):
    assert Policy.load({"version": 1, **yaml.safe_load(block.text)})


def test_each_reason_is_described():
    described = [reason for text in sections(REFERENCE / "reasons.md").values() for reason in first_column(text)]
    assert sorted(described) == sorted(SCHEMA["$defs"]["reason"]["enum"])
    source = (ROOT / "libmicroloop" / "core" / "src" / "verdict.rs").read_text(encoding="utf-8")
    of_the_core = set(re.findall(r'Self::\w+ => "([a-z.]+)"', source))
    assert set(described) == of_the_core - {"none"} | {"guard.fault"}


def test_the_tables_of_named_policies_are_current():
    """`python tests/docs_named_policies.py` writes them."""
    assert docs_named_policies.PAGE.read_text(encoding="utf-8") == docs_named_policies.rendered()


def leaves(group, name="microloop"):
    context = click.Context(group)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        yield from (
            leaves(command, f"{name} {each}") if isinstance(command, click.Group) else [(f"{name} {each}", command)]
        )


@pytest.mark.parametrize(("name", "command"), list(leaves(app)))
def test_each_command_is_described_with_its_options(name, command):
    described = first_column(sections(REFERENCE / "cli.md")[name])
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert [row.split()[0] for row in described] == [each.opts[0] for each in options]


@pytest.mark.parametrize("name", microloop.__all__)
def test_each_public_name_has_a_section(name):
    assert name.replace("_", r"\_") in sections(REFERENCE / "python-api.md")


@pytest.mark.parametrize("kind", INTERNAL)
def test_each_member_is_described_with_its_parameters(kind):
    text = sections(REFERENCE / "python-api.md")[kind.__name__]
    for name in public_members(kind) - INTERNAL[kind]:
        member = getattr(kind, name)
        shown = f"{name}{short(member)}" if inspect.isroutine(member) else name
        assert f"`{shown}`" in text, shown
    if kind in (Guardrail, Monitor, Policy):
        assert f"`{kind.__name__}{short(kind.__init__)}`" in text


def public_members(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


def short(function):
    """The signature as the page shows it: names and defaults."""
    signature = inspect.signature(function)
    kept = [each.replace(annotation=each.empty) for each in signature.parameters.values() if each.name != "self"]
    return str(signature.replace(parameters=kept, return_annotation=signature.empty))


@pytest.mark.adapter
@pytest.mark.parametrize("framework", ["langchain", "langgraph"])
def test_each_adapter_is_described_with_its_parameters(framework):
    pytest.importorskip(framework)
    module = pytest.importorskip(f"microloop.adapters.{framework}")
    text = sections(REFERENCE / "python-api.md")["Adapters"]
    for name in module.__all__:
        assert f"`{name}{short(getattr(module, name))}`" in text, name


def test_a_covered_tool_is_what_the_page_says():
    assert f"({', '.join(Covered._fields)})" in sections(REFERENCE / "python-api.md")["Covered"]


def test_each_function_of_the_header_is_described():
    declared = set(re.findall(r"^[\w ]+ \**(microloop_\w+)\(", HEADER, re.MULTILINE))
    page = sections(REFERENCE / "c-abi.md")
    described = first_column(page["Functions"]) + first_column(page["The build without std"])
    assert sorted(described) == sorted(declared)


@pytest.mark.parametrize(("heading", "prefix"), [("Actions", "ACTION_"), ("Runs", "RUN_"), ("Statuses", "")])
def test_each_number_of_the_header_is_described(heading, prefix):
    declared = re.findall(rf"^#define (MICROLOOP_{prefix}\w+) (-?\d+)$", HEADER, re.MULTILINE)
    others = tuple(f"MICROLOOP_{other}" for other in ("ABI_VERSION", "ACTION_", "OUTCOME_", "RUN_", "SPEAKER_"))
    kept = [(name, number) for name, number in declared if prefix or not name.startswith(others)]
    table = re.findall(r"^\| `(\w+)` \| (-?\d+) \|", sections(REFERENCE / "c-abi.md")[heading], re.MULTILINE)
    assert table == kept
