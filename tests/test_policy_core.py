"""What the loader accepts, the core accepts: policies made at random out of the published schema."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from microloop import Policy, PolicyError, _native
from microloop._policy.schema import published_schema

SCHEMA = published_schema()
TEXTS = ["a", "a*", "b", "x.y", "a[0]", "(?i)x"]
DURATIONS = ["500ms", "1s", "2m", "3h"]
KINDS = ("deny", "require", "ask")


class Maker:
    """One random document."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self, schema, depth=0):
        schema = resolved(schema)
        for fixed in ("const", "enum"):
            if fixed in schema:
                return self.random.choice(schema[fixed] if fixed == "enum" else [schema[fixed]])
        kinds = schema.get("type", ["integer", "string", "boolean"])
        kind = kinds if isinstance(kinds, str) else self.random.choice(kinds)
        return getattr(self, f"a_{kind}")(schema, depth)

    def a_null(self, _schema, _depth):
        return None

    def a_boolean(self, _schema, _depth):
        return self.random.random() < 0.5

    def a_integer(self, schema, _depth):
        least = schema.get("minimum", 0)
        return self.random.choice([least, least + 1, 3, 5, 8, schema.get("maximum", 9)])

    def a_number(self, schema, _depth):
        return self.random.choice([schema.get("minimum", 0), 1, 1.5, 30, schema.get("maximum", 9)])

    def a_string(self, schema, _depth):
        return self.random.choice(DURATIONS if "pattern" in schema else TEXTS)

    def a_array(self, schema, depth):
        length = self.random.randint(schema.get("minItems", 0), 2)
        return [self.value(schema.get("items", {}), depth + 1) for _ in range(length)]

    def a_object(self, schema, depth):
        made = {
            key: self.value(section, depth + 1)
            for key, section in schema.get("properties", {}).items()
            if key != "extends" and (key in schema.get("required", ()) or self.random.random() < 0.3)
        }
        if isinstance(schema.get("additionalProperties"), dict):
            names = resolved(schema["propertyNames"])["enum"] if "propertyNames" in schema else ["a", "b"]
            made[self.random.choice(names)] = self.value(schema["additionalProperties"], depth + 1)
        if "oneOf" in schema:
            made = {key: each for key, each in made.items() if key not in KINDS}
            made[self.random.choice(KINDS)] = self.value(schema["properties"]["deny"], depth + 1)
        return made


def resolved(schema):
    while "$ref" in schema:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], **rest}
    return schema


@pytest.mark.parametrize("group", range(4))
def test_what_the_loader_accepts_the_core_accepts(group):
    counted = Counter()
    for seed in range(group * 150, group * 150 + 150):
        document = Maker(seed).value(SCHEMA)
        try:
            policy = Policy.load(document)
        except PolicyError:
            counted["refused"] += 1
            continue
        _native.lib.microloop_policy_free(_native.new_policy(policy.native_json))
        counted["accepted"] += 1
    assert counted["accepted"] > 50, counted
