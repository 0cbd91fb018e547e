#!/usr/bin/env bash
# The wheel beside the real frameworks. Their pins contradict each other, so there are several environments; each is
# tested with the newest releases on the default Python, and with the lowest that pyproject.toml allows on the oldest
# Python that they support.
set -euo pipefail

cd "$(dirname "$0")/.."
wheel=$(ls dist/microloop-*.whl)
records=.cache/contract
rm -rf "$records"
mkdir -p "$records"

default=$(scripts/pythons.sh --default)
oldest=$(scripts/pythons.sh | sed -n '1s/^[^ ]* //p')

# What the tests of some frameworks need besides.
groups=()

# environment NAME PYTHON EXTRAS [uv pip install arguments…]
environment() {
    local name=$1 python=$2 extras=$3
    shift 3
    env=.cache/venv/adapters-$name
    scripts/venv.sh "$env" "$python" --group test "${groups[@]}" --reinstall-package microloop "$wheel[$extras]" "$@"
    echo "--- $name: $("$env/bin/python" --version)"
    "$env/bin/python" scripts/framework_versions.py
}

# newest NAME EXTRAS TESTS… : what each case of the contract came to is kept for the table.
newest() {
    local name=$1 extras=$2
    shift 2
    environment "$name" "$default" "$extras"
    MICROLOOP_CONTRACT_TABLE=$PWD/$records/$name.jsonl \
        scripts/pytest_installed.sh "$env" -n 2 --dist loadfile "$@"
}

# floors NAME PYTHON EXTRAS
floors() {
    # Only what is asked for directly is taken at its lowest: the extras' packages, and not the wheel alone.
    # shellcheck disable=SC2086 # one argument for each extra
    environment "$1-floors" "$2" "$3" --resolution lowest-direct -r pyproject.toml ${3:+--extra ${3//,/ --extra }}
    # Old releases warn of what is newer than they are.
    scripts/pytest_installed.sh "$env" -n 2 --dist loadfile -o filterwarnings= tests/adapters tests/test_examples.py
}

crewai=autogen,crewai,langchain,langgraph,prices,smolagents
wide=ag2,agent-framework,claude-agent-sdk,google-adk,litellm,llama-index,mcp,openai-agents,prices,pydantic-ai
adapters=(tests/adapters tests/test_docs.py tests/test_examples.py)

groups=(--group autogen --group browser --group demo)
# With LangChain the whole suite runs: it is what the tutorial and the demo stand on.
newest crewai "$crewai" tests
# An adapter cannot be imported where its framework is missing.
scripts/pytest_installed.sh "$env" --doctest-modules --ignore-glob='/*/microloop/adapters/*' --pyargs microloop
scripts/pytest_installed.sh "$env" --doctest-modules --pyargs microloop.adapters.{_gate,_langchain,_smolagents}
groups=(--group autogen)
floors crewai "$oldest" "$crewai"
groups=()

newest wide "$wide" "${adapters[@]}"
newest fastmcp fastmcp "${adapters[@]}"
newest ag2-classic ag2-classic "${adapters[@]}"

floors langchain "$oldest" langchain,langgraph
floors wide "$oldest" "$wide"
floors fastmcp "$default" fastmcp # needs Python 3.11

.venv/bin/python scripts/contract_table.py ${CHECK---check} "$records"/*.jsonl
