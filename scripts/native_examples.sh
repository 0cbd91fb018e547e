#!/usr/bin/env bash
# Builds the library and runs and tests the examples in Go and Node.js against it. What the machine lacks is said in a line
# that the gate repeats at its end.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/libmicroloop/target}"
library="$CARGO_TARGET_DIR/debug/libmicroloop.a"

has_go() {
    # The official archive of Go unpacks to a folder that not every PATH has.
    command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"
    command -v go >/dev/null && (cd examples/go && GOTOOLCHAIN=local go list -m >/dev/null 2>&1)
}

has_node() {
    command -v node >/dev/null && node -e '
        const { existsSync } = require("fs"), { resolve } = require("path");
        const headers = process.env.NODE_HEADERS ?? resolve(process.execPath, "../../include/node");
        process.exit(parseInt(process.versions.node) >= 20 && existsSync(`${headers}/node_api.h`) ? 0 : 1)'
}

run_and_test() {
    # What was linked against another build of the library must not be what is tested.
    make -C "examples/$1" clean
    make -C "examples/$1" run test LIBRARY="$library"
}

cargo build --quiet --manifest-path libmicroloop/Cargo.toml -p microloop-capi
if has_go; then run_and_test go; else echo "SKIPPED: the example in Go needs Go 1.24 or newer"; fi
if has_node; then run_and_test node; else echo "SKIPPED: the example in Node.js needs Node.js 20 or newer with its headers"; fi
