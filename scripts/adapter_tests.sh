#!/usr/bin/env bash
# The wheel beside the real frameworks. Their pins contradict each other, so there are three environments: one with
# CrewAI, one with what CrewAI's pins exclude, one with FastMCP. Each is tested with the newest releases on the default
# Python, and with the lowest that pyproject.toml allows on the oldest.
set -euo pipefail

cd "$(dirname "$0")/.."
wheel=$(ls dist/microloop-*.whl)
records=.cache/contract
rm -rf "$records"
mkdir -p "$records"
export MICROLOOP_CONTRACT_TABLE

declare -A EXTRAS=(
    [crewai]=autogen,crewai,langchain,langgraph,prices,smolagents
    [wide]=ag2,agent-framework,claude-agent-sdk,google-adk,litellm,llama-index,mcp,openai-agents,prices,pydantic-ai
    [fastmcp]=fastmcp
)

environment() {
    local name=$1 python=$2
    shift 2
    env=.cache/venv/adapters-$name
    scripts/venv.sh "$env" "$python" --group test "$@"
    echo "--- $name: $("$env/bin/python" --version)"
    "$env/bin/python" scripts/framework_versions.py
}

newest() {
    local name=$1
    shift
    environment "$name" "$(scripts/pythons.sh --default)" --reinstall-package microloop "$wheel[${EXTRAS[$name]}]" "$@"
    MICROLOOP_CONTRACT_TABLE=$PWD/$records/$name.jsonl
    scripts/pytest_installed.sh "$env" -n 2 --dist loadfile "${tests[@]}"
    MICROLOOP_CONTRACT_TABLE=
}

floors() {
    local name=$1 oldest
    oldest=$(scripts/pythons.sh | head -n 1 | cut -d ' ' -f 2-)
    environment "$name-floors" "$oldest" --resolution lowest-direct --reinstall-package microloop \
        "$wheel[${EXTRAS[$name]}]"
    scripts/pytest_installed.sh "$env" -n 2 --dist loadfile tests/adapters tests/test_examples.py
}

# With LangChain the whole suite runs: it is what the tutorial and the demo stand on.
tests=(tests) newest crewai --group demo
tests=(tests/adapters tests/test_docs.py tests/test_examples.py)
newest wide
newest fastmcp
for name in crewai wide fastmcp; do floors "$name"; done

.venv/bin/python scripts/contract_table.py "${CHECK---check}" "$records"/*.jsonl
