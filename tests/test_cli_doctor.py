"""`microloop doctor`: what works, what does not, and what to do about it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import microloop
from microloop.cli.app import app
from microloop.doctor import adapters, store
from microloop.hook.store import Store, default_path


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Path(default_path())


def test_all_is_well_where_it_is_installed():
    result = CliRunner().invoke(app, ["doctor", "--json"])
    told = json.loads(result.stdout)
    assert (result.exit_code, told["healthy"]) == (0, True)
    areas = list(dict.fromkeys(each["area"] for each in told["findings"]))
    assert areas == ["machine", "library", "self-test", "policies", "adapters", "hook store"]
    assert [each["name"] for each in told["findings"] if each["area"] == "self-test"] == [
        "a loop is blocked",
        "a schema refuses",
        "a monitor sees a stall",
    ]
    assert all(each["state"] == "ok" for each in told["findings"] if each["area"] in areas[:4])
    listed = [each["name"] for each in told["findings"] if each["area"] == "adapters"]
    assert {"langchain", "langgraph", "openai_agents", "smolagents"} <= set(listed)
    assert listed == sorted(listed)


def test_without_the_native_library_it_says_so_and_what_to_do(tmp_path):
    source = Path(microloop.__file__).parent
    shutil.copytree(source, tmp_path / "microloop", ignore=shutil.ignore_patterns("_lowlevel", "__pycache__"))
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    program = [sys.executable, "-m", "microloop", "doctor"]
    done = subprocess.run(program, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "wrong   library: the native part of microloop cannot be loaded" in done.stdout
    assert "pip install --force-reinstall ." in done.stdout
    assert done.stdout.endswith("1 problem\n")


def install(folder, package, version, module=None):
    """As far as anybody can see, a package is installed."""
    about = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8")
    if module is not None:
        (folder / f"{package}.py").write_text(module, encoding="utf-8")


def smolagents():
    [found] = adapters.examine([each for each in adapters.adapters() if each.name == "smolagents"])
    return found


def test_a_framework_that_is_too_old_is_told_and_nothing_wrong(tmp_path, monkeypatch):
    install(tmp_path, "smolagents", "0.1.0")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = smolagents()
    assert (found.state, found.remedy) == ("absent", "from the checkout: pip install --upgrade '.[smolagents]'")
    assert found.detail == "smolagents 0.1.0: smolagents is too old"


def test_an_adapter_that_does_not_import_is_wrong(tmp_path, monkeypatch):
    install(tmp_path, "smolagents", "999.0", "raise RuntimeError('it broke')")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = smolagents()
    assert (found.state, found.detail) == ("wrong", "smolagents 999.0; RuntimeError: it broke")


def test_what_is_not_installed_is_nothing_wrong():
    nowhere = adapters.Adapter("smolagents", {"smolagents": None})
    [found] = adapters.examine([nowhere])
    assert (found.state, found.remedy) == ("absent", "from the checkout: pip install --upgrade '.[smolagents]'")


def test_a_version_belongs_to_the_extra_that_has_it(tmp_path, monkeypatch):
    install(tmp_path, "ag2", "0.14.2")
    monkeypatch.syspath_prepend(str(tmp_path))
    declared = adapters.needs(["ag2>=1.2.1 ; extra == 'ag2'", "ag2>=0.14,<1 ; extra == 'ag2-classic'"])
    assert adapters.versions("ag2", declared) == {"ag2": None}
    assert adapters.versions("ag2-classic", declared) == {"ag2": "0.14.2"}
    assert adapters.versions("ag2", declared[:1]) == {"ag2": "0.14.2"}


def test_a_store_that_is_not_there_is_not_made(state):
    [found] = store.examine()
    assert found.state == "absent"
    assert not state.exists()


def test_a_store_is_read(state):
    with Store(str(state)):
        pass
    [found] = store.examine()
    assert (found.state, found.detail) == ("ok", f"{state}: 0 sessions")


def test_a_damaged_store_is_wrong(state):
    state.parent.mkdir(parents=True)
    state.write_bytes(b"this is no database at all" * 100)
    [found] = store.examine()
    assert (found.state, "delete it" in found.remedy) == ("wrong", True)


def test_a_store_of_another_version_is_wrong(state):
    with Store(str(state)):
        pass
    with closing(sqlite3.connect(state)) as connection:
        connection.execute("PRAGMA user_version = 99")
    [found] = store.examine()
    assert (found.state, "has version 99" in found.detail) == ("wrong", True)
