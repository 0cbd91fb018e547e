#!/usr/bin/env bash
# Installs the wheel of dist/ on every Python of this machine and runs the whole suite there, without any framework.
set -uo pipefail

cd "$(dirname "$0")/.."
wheel=$(ls dist/microloop-*.whl) || exit 1
mkdir -p .cache/gate
: >.cache/gate/pythons
failed=()

test_on() {
    local version=$1 python=$2 env=.cache/venv/$1
    echo "--- Python $version ($("$python" --version))"
    scripts/venv.sh "$env" "$python" --group test --reinstall-package microloop "$wheel" &&
        scripts/pytest_installed.sh "$env" -n 2 --dist worksteal tests
}

while read -r version python; do
    if test_on "$version" "$python"; then
        printf '%s ' "$version" >>.cache/gate/pythons
    else
        failed+=("$version")
    fi
done < <(scripts/pythons.sh)

echo "Pythons tested: $(cat .cache/gate/pythons)${failed[*]:+- failed on ${failed[*]}}"
((${#failed[@]} == 0))
