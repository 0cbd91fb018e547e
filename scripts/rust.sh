#!/usr/bin/env bash
# Makes sure that a Rust is there which builds libmicroloop, installing it through rustup if need be.
set -euo pipefail

NEEDED=1.95

say_what_to_install() {
    echo "microloop needs Rust $NEEDED or newer with cargo, rustfmt and clippy; found: ${1:-none}." >&2
    echo "Install it with rustup: rustup toolchain install stable --component rustfmt,clippy && rustup default stable" >&2
    echo "Then run make again." >&2
    exit 1
}

new_enough() {
    local found
    found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || return 1
    [[ $(printf '%s\n' "$NEEDED" "${found%%-*}" | sort -V | head -n 1) == "$NEEDED" ]]
}

install_through_rustup() {
    command -v rustup >/dev/null || return 1
    echo "Rust $NEEDED or newer is missing: installing the stable toolchain through rustup" >&2
    rustup toolchain install stable --profile minimal --component rustfmt,clippy >&2
    # Somebody's chosen default is left alone; where there is none, the new toolchain becomes it.
    rustup default >/dev/null 2>&1 || rustup default stable >&2
}

complete() { command -v cargo >/dev/null && new_enough && cargo fmt --version >/dev/null && cargo clippy --version >/dev/null; }

complete 2>/dev/null || { install_through_rustup && complete; } || say_what_to_install "$(rustc --version 2>/dev/null || true)"
# The static library is linked by C programs too, and some crates' build scripts need a linker.
command -v cc >/dev/null || {
    echo "microloop needs a C compiler as linker (Debian: apt-get install gcc libc6-dev), then run make again." >&2
    exit 1
}
