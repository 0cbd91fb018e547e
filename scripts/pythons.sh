#!/usr/bin/env bash
# Finds the Pythons of this machine that microloop supports.
#
#   scripts/pythons.sh            one line each, oldest first: "3.10 /path/to/python"
#   scripts/pythons.sh --default  the path of the one that .venv is made with
set -euo pipefail

SUPPORTED=(3.10 3.11 3.12 3.13 3.14)

# Prints the real path if the candidate runs and is the wanted minor version. A pyenv shim may exist and still refuse.
real_path() {
    "$2" -c "import sys, venv; assert sys.version_info[:2] == tuple(map(int, '$1'.split('.'))); print(sys.executable)" \
        2>/dev/null
}

find_one() {
    local version=$1 candidate
    local pyenv=${PYENV_ROOT:-$HOME/.pyenv}
    for candidate in "python$version" python3 "$pyenv/versions/$version".*/bin/python; do
        if real_path "$version" "$candidate"; then return 0; fi
    done
    return 1
}

all() {
    local version path
    for version in "${SUPPORTED[@]}"; do
        if path=$(find_one "$version"); then echo "$version $path"; fi
    done
}

# The `python3` of the PATH if it is one of ours, else the newest of ours.
default() {
    local found
    found=$(all)
    if [[ -z $found ]]; then
        echo "microloop needs Python 3.10 to 3.14 with its venv module; none was found on the PATH or under pyenv." >&2
        echo "Install one (Debian: apt-get install python3 python3-venv), then run make again." >&2
        return 1
    fi
    local mine
    mine=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true)
    { grep "^$mine " <<<"$found" || tail -n 1 <<<"$found"; } | cut -d ' ' -f 2-
}

if [[ ${1:-} == --default ]]; then default; else all; fi
