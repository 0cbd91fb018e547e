#!/usr/bin/env bash
# Prepares what the benchmarks need (the wheel, the peers, each from its registry) and runs them all in one run.
set -euo pipefail

cd "$(dirname "$0")/.."
python=$(scripts/pythons.sh --default)
env=.cache/venv/bench
published=.cache/venv/bench-published

scripts/wheel.sh dist >/dev/null
scripts/venv.sh "$env" "$python" --reinstall-package microloop dist/microloop-*.whl orjson
# One at a time: what cannot be had here is said in its row, and does not keep the others from the table.
for peer in jsonschema fastjsonschema jsonschema-rs agent-os-kernel agentguard47; do
    scripts/venv.sh "$env" "$python" "$peer" || echo "SKIPPED: $peer cannot be installed" >&2
done
scripts/venv.sh "$published" "$python" microloop==0.3.0 || echo "SKIPPED: microloop 0.3.0 cannot be installed" >&2

exec "$env/bin/python" benchmarks/run.py --python "$PWD/$env/bin/python" --published "$PWD/$published/bin/python" \
    --wheel dist/microloop-*.whl "$@"
