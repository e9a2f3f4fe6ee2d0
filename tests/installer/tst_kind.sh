#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Where installer/dev decides to build, for hosts that are not at hand: their os-release, and an apt-cache that answers as theirs.
set -euo pipefail

checkout=$1
# shellcheck source=/dev/null
source "$checkout/installer/environment/kind.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# The versions this distribution's apt would install; empty: it does not know the package.
qt='' kf=''
# shellcheck disable=SC2317 # called by environment_kind
apt-cache()
{
    case $2 in
        qt6-base-dev) version=$qt ;;
        libkf6syntaxhighlighting-dev) version=$kf ;;
        *) version='' ;;
    esac
    [[ -z $version ]] || printf '%s:\n  Installed: (none)\n  Candidate: %s\n' "$2" "$version"
}

# expect KIND WHAT OS_RELEASE_LINES
expect()
{
    printf '%s\n' "${@:3}" >"$scratch/os-release"
    local kind
    kind=$(environment_kind "$scratch/os-release")
    if [[ $kind == "$1" ]]; then
        echo "ok: $2 -> $kind"
    else
        echo "FAILED: $2 -> $kind, expected $1"
        failed=1
    fi
}

expect root "Debian 12" 'ID=debian' 'VERSION_ID="12"' 'VERSION_CODENAME=bookworm'
expect native "Debian 13 before its first apt-get update" 'ID=debian' 'VERSION_ID="13"'
expect native "Debian 13.2" 'ID=debian' 'VERSION_ID="13.2"'
expect native "Debian unstable" 'ID=debian' 'VERSION_CODENAME=sid'
qt=6.4.2+dfsg-21.1build5
expect root "Ubuntu 24.04 (DGX OS 7)" 'ID=ubuntu' 'ID_LIKE=debian' 'VERSION_ID="24.04"'
qt=6.8.3+dfsg-0ubuntu1 kf=6.12.0-0ubuntu1
expect native "Ubuntu 25.04" 'ID=ubuntu' 'ID_LIKE=debian' 'VERSION_ID="25.04"'
qt=1:6.10.0-1 kf=6.20.0
expect native "versions with an epoch and two digits" 'ID=neon'
qt=6.8.3 kf=''
expect root "new Qt without KDE Frameworks 6" 'ID=somedistro'
qt='(none)' kf=6.12
expect root "a package known but not installable" 'ID=somedistro'
exit "$failed"
