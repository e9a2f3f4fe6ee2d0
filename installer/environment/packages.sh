# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables that installer/dev sets and reads
#
# Reads installer/packages.txt and installs what is missing, in the Debian 13 root or on the host. Called by installer/dev.

# packages_of GROUP: the package names of one group of packages.txt.
packages_of()
{
    awk -v group="[$1]" '/^\[/ { inside = ($0 == group); next } inside && NF && !/^#/ { print $1 }' \
        "$checkout/installer/packages.txt"
}

# ensure_native_packages GROUP
ensure_native_packages()
{
    local missing
    missing=$(packages_of "$1" | while read -r package; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
    done)
    [[ -z $missing ]] && return
    say "installing $(wc -l <<<"$missing") packages on this machine"
    [[ $1 != arm64 ]] || as_root dpkg --add-architecture arm64
    as_root apt-get update -q >&2 || die "apt-get update failed; check the network and the sources of apt"
    # shellcheck disable=SC2086 # one word per package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2 \
        || die "apt-get could not install all of: ${missing//$'\n'/ }"
}

# missing_root_packages ROOT GROUP: what this group lists beyond what earlier runs installed in the root. A name that left
# the list stays installed: checkouts of different ages share one root.
missing_root_packages()
{
    comm -13 <(sort -u "$1/etc/firesteel/packages" 2>/dev/null) <(packages_of "$2" | sort -u)
}
