#!/usr/bin/env bash
# Installs the wheel of dist/ on every Python of this machine and runs the whole suite there.
set -euo pipefail

cd "$(dirname "$0")/.."
wheel=$(ls dist/microloop-*.whl)
mkdir -p .cache/gate
: >.cache/gate/pythons

while read -r version python; do
    echo "--- Python $version ($("$python" --version))"
    env=.cache/venv/$version
    scripts/venv.sh "$env" "$python" --group test
    scripts/venv.sh "$env" "$python" --reinstall-package microloop "$wheel"
    MICROLOOP_TEST_INSTALLED=1 "$env/bin/pytest" -q -p no:cacheprovider
    printf '%s ' "$version" >>.cache/gate/pythons
done < <(scripts/pythons.sh)
echo "Pythons tested: $(cat .cache/gate/pythons)"
