#!/usr/bin/env bash
# The framework adapters and the examples against the real frameworks: the newest releases on the default Python, and the
# lowest that pyproject.toml allows on the oldest Python.
set -euo pipefail

cd "$(dirname "$0")/.."
wheel=$(ls dist/microloop-*.whl)

run() {
    local name=$1 python=$2
    shift 2
    local env=.cache/venv/adapters-$name
    scripts/venv.sh "$env" "$python" --group test "$@" --reinstall-package microloop "$wheel[langchain,langgraph]"
    echo "--- adapters, $name: $("$env/bin/python" --version), $(
        "$env/bin/python" -c 'from importlib.metadata import version as v
print(", ".join(f"{name} {v(name)}" for name in ("langchain", "langchain-core", "langgraph")))'
    )"
    MICROLOOP_TEST_INSTALLED=1 "$env/bin/pytest" -q -p no:cacheprovider tests/adapters
}

run newest "$(scripts/pythons.sh --default)"
run floors "$(scripts/pythons.sh | head -n 1 | cut -d ' ' -f 2-)" --resolution lowest-direct
