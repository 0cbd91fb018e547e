#!/usr/bin/env bash
# Builds the sdist, and from it the wheel, into the given folder; then looks into the wheel.
set -euo pipefail

out=${1:-dist}
cd "$(dirname "$0")/.."
rm -rf "$out"
# From the sdist, so that what it lacks is noticed here and not by whoever builds it. The folder is shared with every
# other build, or each wheel would compile all dependencies anew.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/libmicroloop/target}
# All files of an sdist are equally old: what was compiled of an earlier one would pass for up to date.
cargo clean --quiet --release --manifest-path libmicroloop/Cargo.toml -p microloop-core -p microloop-capi
if ! told=$(VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin build --quiet --release --locked --sdist --out "$out" 2>&1); then
    echo "$told" >&2
    exit 1
fi
.venv/bin/python scripts/check_wheel.py "$out"/microloop-*.whl
