#!/bin/sh
# Makes include/microloop.h from the source, or with --check fails if the committed one differs.
# Installs cbindgen of a fixed version into a cache of the checkout where it is missing.
set -eu
cd "$(dirname "$0")"

VERSION=0.29.4
TOOLS=${MICROLOOP_TOOLS:-$(cd ../.. && pwd)/.cache/tools}
CBINDGEN=$TOOLS/bin/cbindgen
HEADER=include/microloop.h

if [ "$("$CBINDGEN" --version 2>/dev/null)" != "cbindgen $VERSION" ]; then
    echo "installing cbindgen $VERSION into $TOOLS" >&2
    cargo install cbindgen --version "$VERSION" --locked --quiet --force --root "$TOOLS"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat header.toml cbindgen.toml >"$work/config.toml"
"$CBINDGEN" --quiet --config "$work/config.toml" --output "$work/microloop.h" .

if [ "${1:-}" != --check ]; then
    mkdir -p "$(dirname "$HEADER")"
    cp "$work/microloop.h" "$HEADER"
elif diff -u "$HEADER" "$work/microloop.h"; then
    echo "$HEADER is up to date"
else
    echo "$HEADER is not what the source says: run libmicroloop/capi/header.sh and commit it" >&2
    exit 1
fi
