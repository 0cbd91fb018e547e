#!/usr/bin/env bash
# Scores the detectors on recorded runs, beside the rules of others and the microloop of PyPI, which has a place of its own.
set -euo pipefail

cd "$(dirname "$0")/.."
published=.cache/venv/bench-published

# One that cannot be had here is said, and does not keep the others from the table.
if scripts/venv.sh "$published" "$(scripts/pythons.sh --default)" microloop==0.3.0; then
    set -- --published "$PWD/$published/bin/python" "$@"
else
    echo "SKIPPED: microloop 0.3.0 cannot be installed" >&2
fi
PYTHONPATH=benchmarks exec .venv/bin/python -m evaluate "$@"
