#!/usr/bin/env bash
# The wheel beside the real frameworks: the whole suite with their newest releases on the default Python, and all that
# touches a framework with the lowest releases that pyproject.toml allows on the oldest Python.
set -euo pipefail

cd "$(dirname "$0")/.."
wheel=$(ls dist/microloop-*.whl)

environment() {
    local name=$1 python=$2
    shift 2
    env=.cache/venv/adapters-$name
    scripts/venv.sh "$env" "$python" --group test "$@" --reinstall-package microloop "$wheel[langchain,langgraph]"
    echo "--- $name: $("$env/bin/python" --version), $("$env/bin/python" -c '
from importlib.metadata import version
print(", ".join(f"{name} {version(name)}" for name in ("langchain", "langchain-core", "langgraph")))')"
}

environment newest "$(scripts/pythons.sh --default)" --group demo
scripts/pytest_installed.sh "$env" -n 2 --dist worksteal tests
scripts/pytest_installed.sh "$env" --doctest-modules --pyargs microloop

environment floors "$(scripts/pythons.sh | head -n 1 | cut -d ' ' -f 2-)" --resolution lowest-direct
scripts/pytest_installed.sh "$env" tests/adapters tests/test_examples.py
