#!/bin/sh
# Fails unless a program that reads freed memory is stopped by the address sanitizer: a sanitizer run that sanitizes
# nothing passes too.
set -eu
work=$1/is-on
mkdir -p "$work"
cat >"$work/freed.rs" <<'RUST'
fn main() {
    let place: *const u8 = { let boxed = Box::new(7_u8); &raw const *boxed };
    // SAFETY: there is none; that is the point.
    println!("{}", unsafe { place.read_volatile() });
}
RUST
rustc +nightly --edition 2024 -Zsanitizer=address -o "$work/freed" "$work/freed.rs"
if "$work/freed" >"$work/log" 2>&1 || ! grep -q heap-use-after-free "$work/log"; then
    echo "the address sanitizer did not see a read of freed memory" >&2
    exit 1
fi
echo "the address sanitizer is on"
