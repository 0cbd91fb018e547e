#!/usr/bin/env bash
# The complete gate: every stage in turn, each with a heading and its time, and a summary at the end.
# A stage is a target of the Makefile, so that one that failed can be run again alone: make STAGE.
set -uo pipefail

STAGES=(lint types rust header c-abi native-examples freestanding sanitize build wheel-tests adapters smoke docs)

cd "$(dirname "$0")/.."
logs=.cache/gate
mkdir -p "$logs"
passed=0 failed=0
report=()

run_stage() {
    local stage=$1 began=$SECONDS result=passed
    printf '\n=== %s\n' "$stage"
    if make "$stage" 2>&1 | tee "$logs/$stage.log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        result=FAILED
    fi
    printf -- '--- %s %s in %d s\n' "$stage" "$result" $((SECONDS - began))
    report+=("$(printf '%-16s %-7s %4d s' "$stage" "$result" $((SECONDS - began)))")
}

for stage in "${STAGES[@]}"; do run_stage "$stage"; done

printf '\n=== summary\n'
printf '%s\n' "${report[@]}"
echo "Pythons tested: $(cat "$logs/pythons" 2>/dev/null || echo none)"
# What could not run here is said once more where it is not overlooked.
grep --no-filename '^SKIPPED: ' "$logs"/*.log || true
printf '\n%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
