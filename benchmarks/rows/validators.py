"""JSON Schema validators: the arguments against the schema, and nothing more."""

import itertools
from collections.abc import Callable
from typing import Any

import fastjsonschema
import jsonschema
import jsonschema_rs

import workload
from row import Loop, Row, endless_calls


class Validator(Row):
    """Valid arguments against the schema of the workload."""

    work = "JSON Schema only: no rules, no loops, no outcome"
    accepts: Callable[[dict[str, Any]], object]

    def __init__(self) -> None:
        """Take the calls."""
        self.calls = endless_calls()

    def run(self, operations: int) -> None:
        """Validate them."""
        accepts = self.accepts
        for arguments in itertools.islice(self.calls, operations):
            accepts(arguments)

    def verify(self, operations: int) -> None:
        """Fail unless it accepts what is valid and refuses what is not."""
        assert operations > 0
        assert self.says_yes(workload.arguments(1))
        assert not self.says_yes(workload.arguments(1) | {"limit": 0})
        assert not self.says_yes({"sql": "SELECT 1"})
        assert not self.says_yes(workload.arguments(1) | {"more": 1})

    def says_yes(self, arguments: dict[str, Any]) -> bool:
        """Return the validator's answer as a bool."""
        return bool(self.accepts(arguments))


class Jsonschema(Validator):
    """The reference implementation in Python."""

    name = "jsonschema"

    def __init__(self) -> None:
        """Build the validator once, as its documentation advises."""
        super().__init__()
        self.accepts = jsonschema.Draft202012Validator(workload.SCHEMA).is_valid


class Fastjsonschema(Validator):
    """Generated Python code; it knows drafts 4, 6 and 7, and this schema means the same there."""

    name = "fastjsonschema"

    def __init__(self) -> None:
        """Compile the schema."""
        super().__init__()
        draft_7 = workload.SCHEMA | {"$schema": "http://json-schema.org/draft-07/schema#"}
        self.accepts = fastjsonschema.compile(draft_7)

    def says_yes(self, arguments: dict[str, Any]) -> bool:
        """Return False where it raises."""
        try:
            self.accepts(arguments)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True


class JsonschemaRs(Validator):
    """The Rust implementation that microloop's core uses, called on Python objects."""

    name = "jsonschema-rs"

    def __init__(self) -> None:
        """Build the validator once."""
        super().__init__()
        self.accepts = jsonschema_rs.validator_for(workload.SCHEMA).is_valid


ROWS: list[type[Row]] = [Loop, Jsonschema, Fastjsonschema, JsonschemaRs]
