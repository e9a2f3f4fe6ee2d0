# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# How installer/dev talks: progress and one-line errors on stderr, so that the output of `exec CMD` stays CMD's own.

say()
{
    printf '[firesteel] %s\n' "$*" >&2
}

# die WHAT IS WRONG; WHAT TO DO
die()
{
    printf '[firesteel] error: %s\n' "$*" >&2
    exit 1
}

# Runs a command as root. Asks for a password only where a person can type one.
as_root()
{
    if ((EUID == 0)); then
        "$@"
        return
    fi
    require_root_rights
    sudo -- "$@"
}

require_root_rights()
{
    ((EUID == 0)) && return
    command -v sudo >/dev/null \
        || die "this step needs root and sudo is not installed; install sudo or run installer/dev as root"
    sudo -n true 2>/dev/null && return
    [[ -t 0 || -t 2 ]] || die "this step needs root and sudo asks for a password; run it in a terminal or allow sudo without one"
    sudo -v || die "sudo refused; ask for the right to use it or run installer/dev as root"
}

# require_disk DIRECTORY GIB WHAT: stops before a step that would fill the disk.
require_disk()
{
    local directory=$1 needed=$2 what=$3 available
    available=$(($(df --output=avail -k "$directory" | tail -n 1) / 1048576))
    ((available >= needed)) \
        || die "not enough disk: $what needs $needed GiB and $directory has $available GiB free; free some or set XDG_CACHE_HOME"
}
