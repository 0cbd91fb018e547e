"""The published vectors of RFC 8785, through the native library as Python sees it."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from microloop._native import checked, lib, read
from microloop.errors import NativeError

VECTORS = json.loads((Path(__file__).parent / "vectors" / "rfc8785.json").read_text(encoding="utf-8"))


def canonical(text):
    data = text.encode()
    return read(lambda *rest: lib.microloop_canonical(data, len(data), *rest)).decode()


@pytest.mark.parametrize("vector", VECTORS["numbers"], ids=lambda vector: vector["ieee"])
def test_numbers_are_written_as_appendix_b_says(vector):
    (number,) = struct.unpack(">d", bytes.fromhex(vector["ieee"]))
    assert struct.pack(">d", float(vector["json"])) == struct.pack(">d", number), "the vector itself"
    assert canonical(vector["json"]) == vector["canonical"]


@pytest.mark.parametrize("vector", VECTORS["texts"], ids=lambda vector: vector["name"])
def test_texts_and_keys_are_written_as_section_3_says(vector):
    assert canonical(vector["json"]) == vector["canonical"]
    assert canonical(vector["canonical"]) == vector["canonical"]


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda vector: vector["name"])
def test_what_has_no_canonical_form_is_refused(vector):
    data = vector["json"].encode()
    with pytest.raises(NativeError):
        checked(lib.microloop_canonical(data, len(data), b"", 0))
