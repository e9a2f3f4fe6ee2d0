# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables that installer/dev sets and reads
#
# Makes and updates the Debian 13 root that Firesteel is built in where the host's own packages are too old. Called by
# installer/dev. The root is complete or absent: it is made under another name and renamed at the end.

# ensure_root GROUP: the root exists and has this group's packages. Takes no lock where nothing is to do.
ensure_root()
{
    local group=$1
    if [[ -d $root && -z $(missing_root_packages "$root" "$group") ]]; then
        return
    fi
    require_root_rights
    exec {lock}>"$cache/debian13.lock"
    if ! flock -n "$lock"; then
        say "waiting for another installer/dev that is setting up the environment"
        flock "$lock"
    fi
    [[ -d $root ]] || make_root
    add_root_packages "$root" "$group"
    exec {lock}>&-
}

make_root()
{
    local partial=$root.partial mirror log=$cache/debootstrap.log
    # What an interrupted run left. Its mounts were in a namespace of their own and went with it.
    as_root rm -rf --one-file-system "$partial"
    require_disk "$cache" 6 "the build environment"
    require_debootstrap
    mirror=$(host_mirror)
    say "making the Debian 13 build environment in $root (once, some minutes)"
    : >"$log"
    trap 'as_root rm -rf --one-file-system "$root.partial"' EXIT
    trap 'die "interrupted; run again to start over"' INT
    # shellcheck disable=SC2086 # no mirror, no argument
    as_root unshare --mount --pid --fork --kill-child \
        debootstrap --variant=minbase --include=ca-certificates trixie "$partial" $mirror 2>&1 \
        | tee "$log" | progress '^I: (Retrieving|Extracting|Unpacking|Configuring) ' 60 "Debian packages handled" \
        || die_of_log "$log" "debootstrap failed"
    # shellcheck disable=SC2016 # expanded by the inner shell
    as_root bash -c 'cd "$1" && printf "#!/bin/sh\nexit 101\n" >usr/sbin/policy-rc.d && chmod +x usr/sbin/policy-rc.d
        printf "%s\n" "Acquire::Languages \"none\";" "APT::Install-Recommends \"false\";" "$2" >etc/apt/apt.conf.d/99firesteel
        rm -f etc/resolv.conf && touch etc/resolv.conf etc/machine-id && mkdir -p etc/firesteel' \
        bash "$partial" "$(host_apt_proxy)"
    add_root_packages "$partial" base
    as_root mv -T "$partial" "$root"
    trap - EXIT INT
}

# add_root_packages ROOT GROUP
add_root_packages()
{
    local target=$1 group=$2 missing log=$cache/packages.log
    missing=$(missing_root_packages "$target" "$group")
    [[ -n $missing ]] || return 0
    require_disk "$cache" 4 "installing packages"
    say "installing $(wc -l <<<"$missing") packages with what they need into the build environment"
    # shellcheck disable=SC2086,SC2016 # one word per package; expanded inside
    as_root unshare --mount --pid --fork --kill-child "$BASH" "$checkout/installer/environment/enter" \
        --root "$target" --cwd / --user 0:0:0 -- \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 -- \
        sh -ec 'if [ "$1" = arm64 ]; then dpkg --add-architecture arm64; fi; shift
            dpkg --configure -a; apt-get update -q
            apt-get install -y -q -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io "$@"; apt-get clean' \
        sh "$group" $missing 2>&1 \
        | tee "$log" | progress '^(Get:|Unpacking |Setting up )' 200 "of about $(($(wc -l <<<"$missing") * 30)) package steps" \
        || die_of_log "$log" "installing packages failed"
    as_root tee -a "$target/etc/firesteel/packages" <<<"$missing" >/dev/null
}

require_debootstrap()
{
    command -v debootstrap >/dev/null || [[ -x /usr/sbin/debootstrap ]] && return
    command -v apt-get >/dev/null \
        || die "debootstrap is missing; install it with this distribution's package manager and run again"
    say "installing debootstrap"
    local wanted=(debootstrap debian-archive-keyring) log=$cache/packages.log
    as_root apt-get install -y -q "${wanted[@]}" >"$log" 2>&1 \
        || { as_root apt-get update -q && as_root apt-get install -y -q "${wanted[@]}"; } >"$log" 2>&1 \
        || die_of_log "$log" "debootstrap could not be installed"
}

# The host's own mirror where the host is Debian: it is the one known to work here. Else debootstrap's default.
host_mirror()
{
    [[ $(os_release_field /etc/os-release ID) == debian ]] || return 0
    local codename
    codename=$(os_release_field /etc/os-release VERSION_CODENAME)
    # shellcheck disable=SC2016 # apt's own placeholders
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null \
        | awk -v codename="$codename" '$1 == codename && $2 ~ /^https?:/ { print $2; exit }' || true
}

host_apt_proxy()
{
    command -v apt-config >/dev/null || return 0
    local proxy=
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [[ -z $proxy ]] || printf 'Acquire::http::Proxy "%s";' "$proxy"
}

# progress PATTERN EVERY WHAT: eats a log and prints a line whenever EVERY more lines matched.
progress()
{
    awk -v pattern="$1" -v every="$2" -v what="$3" \
        '$0 ~ pattern && ++n % every == 0 { printf "[firesteel]   %d %s\n", n, what; fflush() }' >&2
}

# die_of_log LOG WHAT: names the likely cause where the log shows it.
die_of_log()
{
    if grep -qiE 'failed getting release file|could not resolve|temporary failure|unable to connect|could not connect|network is unreachable|failed to fetch' "$1"; then
        die "$2: the package mirror could not be reached; check the network or the proxy and run again (log: $1)"
    elif grep -qi 'no space left' "$1"; then
        die "$2: the disk is full; free some or set XDG_CACHE_HOME (log: $1)"
    elif grep -qiE 'unshare failed|operation not permitted|noexec or nodev' "$1"; then
        die "$2: mounting is not permitted here; use a machine or a privileged container, and a cache on a disk without noexec/nodev (log: $1)"
    fi
    die "$2: $(grep -v '^ *$' "$1" | tail -n 1) (log: $1)"
}
