"""The tutorial and the how-to pages do what they say: every block of them runs, and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import microloop
from docs_pages import DOCS, ROOT, Block, blocks, commands
from installed import installed

PAGES = [DOCS / "index.md", *sorted(DOCS.glob("tutorial/*.md")), *sorted(DOCS.glob("how-to/*.md"))]
PAGES.append(DOCS / "reference" / "recorded-runs.md")
NEEDS = {
    "guard-ag2": "ag2",
    "guard-ag2-classic": "autogen",
    "guard-agent-framework": "agent_framework",
    "guard-autogen": "autogen_agentchat",
    "guard-claude-agent-sdk": "claude_agent_sdk",
    "guard-crewai": "crewai",
    "guard-fastmcp": "fastmcp",
    "guard-google-adk": "google.adk",
    "guard-langchain": "langchain",
    "guard-langgraph": "langgraph",
    "guard-litellm": "fastapi_sso",
    "guard-llama-index": "llama_index.core",
    "guard-mcp": "mcp.server.mcpserver",
    "guard-openai-agents": "agents",
    "guard-pydantic-ai": "pydantic_ai",
    "guard-smolagents": "smolagents",
    "handle-halts": "langchain",
}


# What a framework warns of itself.
WARNS = {
    "guard-crewai": ("::DeprecationWarning", "::ImportWarning"),
    "guard-litellm": ("",),
    "guard-llama-index": ("::DeprecationWarning",),
}


def _parameter(page: Path) -> object:
    marks = [pytest.mark.adapter] if page.stem in NEEDS else []
    marks += [pytest.mark.filterwarnings(f"ignore{each}") for each in WARNS.get(page.stem, ())]
    return pytest.param(page, id=page.stem, marks=marks)


class Reader:
    """Follows one page."""

    def __init__(self, page: Path, module: types.ModuleType) -> None:
        self.page = page
        self.module = module
        self.printed = ""
        self.code = 0

    def follow(self, block: Block) -> None:
        if block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            self.run(block)
        elif block.kind == "text":
            assert self.printed == block.text, f"{self.page}:{block.line}"
        elif block.kind == "console":
            self.type_in(block)

    def run(self, block: Block) -> None:
        out = io.StringIO()
        # Errors name the page and the line on it.
        code = compile("\n" * (block.line - 1) + block.text, str(self.page), "exec", dont_inherit=True)
        with contextlib.redirect_stdout(out):
            exec(code, self.module.__dict__)
        self.printed = out.getvalue()

    def type_in(self, block: Block) -> None:
        for command in commands(block.text):
            if command.line == "echo $?":
                assert command.shown.strip() == str(self.code), f"{self.page}:{block.line}"
            elif command.line.startswith("microloop "):
                line, _, target = command.line.partition(" > ")
                shown = self.microloop(*shlex.split(line)[1:])
                if target:
                    Path(target).write_text(shown, encoding="utf-8")
                else:
                    assert shown == command.shown, f"{self.page}:{block.line}: {command.line}"

    def microloop(self, *arguments: str) -> str:
        line = [sys.executable, "-m", "microloop", *arguments]
        # The same package, in a checkout that is not installed as well.
        env = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(Path(microloop.__file__).parents[1])}
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=env)
        self.code = done.returncode
        return done.stdout + done.stderr


@pytest.mark.parametrize("page", [_parameter(page) for page in PAGES])
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch):
    needed = NEEDS.get(page.stem)
    if needed is not None and not installed(needed):
        pytest.skip(f"{needed} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # what a framework stores for its user goes when the test does
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    reader = Reader(page, module)
    for block in blocks(page):
        reader.follow(block)


@pytest.mark.adapter
def test_the_example_of_the_readme_does_what_the_readme_says(monkeypatch):
    pytest.importorskip("langchain")
    from microloop import RunHalted

    module = types.ModuleType("readme")
    monkeypatch.setitem(sys.modules, "readme", module)
    module.db = types.SimpleNamespace(execute=lambda _: "[]")
    example = next(block for block in blocks(ROOT / "README.md") if block.kind == "python")
    exec(compile(example.text, "README.md", "exec", dont_inherit=True), module.__dict__)
    with module.guard.session():
        answers = [module.query_database.invoke({"sql": "SELECT 1"}) for _ in range(4)]
        assert answers[:2] == ["[]", "[]"]
        assert all("was refused: call number" in answer for answer in answers[2:])
        with pytest.raises(RunHalted):
            module.query_database.invoke({"sql": "SELECT 1"})


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_c_program_guards(tmp_path):
    """It is linked against the library inside the package: the same functions, built once."""
    import microloop._lowlevel as lowlevel

    library = next(Path(lowlevel.__file__).parent.glob("*.so"))
    page = list(blocks(DOCS / "how-to" / "use-from-c.md"))
    (tmp_path / "guard.c").write_text(next(block.text for block in page if block.file == "guard.c"), encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'libmicroloop' / 'capi' / 'include'}"]
    subprocess.run(["cc", *flags, "guard.c", str(library), "-o", "guard"], cwd=tmp_path, check=True)
    env = {**os.environ, "LD_LIBRARY_PATH": str(library.parent)}
    printed = subprocess.run([tmp_path / "guard"], env=env, capture_output=True, text=True, check=True).stdout
    shown = {
        command.line: command.shown for block in page if block.kind == "console" for command in commands(block.text)
    }
    assert printed == shown["./guard"]
