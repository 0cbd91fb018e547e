#!/usr/bin/env bash
# Runs pytest on the installed package: scripts/pytest_installed.sh ENVIRONMENT [pytest arguments…], tests/… from the root.
# From an empty folder, so that neither pytest nor a process that a test starts finds the source tree's microloop first.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
env=$(cd "$1" && pwd)
shift
mkdir -p "$root/.cache/elsewhere"
cd "$root/.cache/elsewhere"
"$env/bin/python" -c 'import microloop; assert "site-packages" in microloop.__file__, microloop.__file__'

arguments=()
for argument in "$@"; do
    if [[ $argument == tests* ]]; then argument=$root/$argument; fi
    arguments+=("$argument")
done
exec "$env/bin/pytest" -q -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$root" "${arguments[@]}"
