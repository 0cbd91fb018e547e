#!/usr/bin/env bash
# The wheel alone: an environment with nothing but what the wheel asks for, away from the source tree.
set -euo pipefail

cd "$(dirname "$0")/.."
env=.cache/venv/smoke
rm -rf "$env"
scripts/venv.sh "$env" "$(scripts/pythons.sh --default)" "$(ls dist/microloop-*.whl)"
python=$PWD/$env/bin/python
cd "$(mktemp -d)"
"$python" - <<'PYTHON'
from microloop import Guardrail, RunHalted, BlockedCall

guard = Guardrail(policy="strict_loop_detection", on_block="raise")
ran = 0


@guard.verify
def search(query: str) -> str:
    global ran
    ran += 1
    return "nothing found"


refused = None
with guard.session("smoke"):
    for _ in range(20):
        try:
            search(query="the same thing")
        except (BlockedCall, RunHalted) as refusal:
            refused = refusal
            break
assert refused is not None, "twenty identical calls went through"
assert ran < 20, ran
print(f"smoke: {ran} calls ran, then {refused.verdict.action} for {refused.verdict.reason}")
PYTHON
"$(dirname "$python")/microloop" --help >/dev/null
"$(dirname "$python")/microloop" policy show balanced >/dev/null
echo "smoke: the command line answers"
