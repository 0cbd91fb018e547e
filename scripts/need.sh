#!/usr/bin/env bash
# Makes sure that a program is there: scripts/need.sh PROGRAM PACKAGE. Installs Debian's package where that is possible;
# elsewhere it says loudly what will not be tested, in a line that the gate repeats at its end.
set -euo pipefail

program=$1 package=$2
command -v "$program" >/dev/null && exit 0
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    echo "installing $package"
    if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$package"; } \
        >/dev/null 2>&1 && command -v "$program" >/dev/null; then
        exit 0
    fi
fi
echo "SKIPPED: what needs $program (Debian: apt-get install $package)"
