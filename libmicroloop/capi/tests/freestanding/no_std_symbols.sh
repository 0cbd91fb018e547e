#!/bin/sh
# Fails if a program that should need nothing below it has symbols of Rust's std, of a C library, or undefined ones.
set -eu
program=$1
symbols=$(nm --demangle "$program")

refuse() {
    found=$(printf '%s\n' "$symbols" | grep -E "$2" || true)
    if [ -n "$found" ]; then
        printf '%s: it has %s:\n%s\n' "$program" "$1" "$found" >&2
        exit 1
    fi
}

[ "$(printf '%s\n' "$symbols" | wc -l)" -gt 50 ] || { echo "$program: it has hardly any symbols, was it stripped?" >&2; exit 1; }
refuse "symbols of std" ' (<)?std::|__rust_start_panic|std_detect::'
refuse "symbols of an unwinder" ' _Unwind_[A-QS-Z]| _Unwind_Raise|__gxx_personality'
refuse "symbols of a C library" ' (malloc|free|pthread_[a-z_]+|__libc_[a-z_]+)$'
refuse "undefined symbols" '^ +U '
