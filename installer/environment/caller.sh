# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables that installer/dev sets and reads
#
# Who called installer/dev, and how a command runs inside the environment as that person. Called by installer/dev.

# Sets caller_uid, caller_gid, caller_groups, caller_home. `sudo installer/dev` in one's own checkout still means oneself.
identify_caller()
{
    caller_uid=$(id -u) caller_gid=$(id -g) caller_groups=$(id -G) caller_home=$HOME
    # shellcheck disable=SC2153 # sudo sets it
    if ((EUID == 0)) && [[ -n ${SUDO_UID:-} && $(stat -c %u "$checkout") == "$SUDO_UID" ]]; then
        caller_uid=$SUDO_UID caller_gid=$SUDO_GID caller_groups=$(id -G "$SUDO_USER")
        caller_home=$(getent passwd "$SUDO_UID" | cut -d : -f 6)
    fi
    caller_groups=${caller_groups// /,}
}

# For folders that the caller must own even if installer/dev itself runs as root.
as_caller()
{
    if [[ $caller_uid == "$EUID" ]]; then
        "$@"
    else
        setpriv --reuid "$caller_uid" --regid "$caller_gid" --groups "$caller_groups" -- "$@"
    fi
}

# Sets $variables to what a command inside sees of the caller's environment.
collect_variables()
{
    local name pattern='^(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_.*|DBUS_.*|DESKTOP_SESSION|KDE_.*|GNOME_.*|QT_.*|QML_.*|QSG_.*'
    pattern+='|TERM|COLORTERM|NO_COLOR|TZ|EDITOR|GIT_.*|SSH_AUTH_SOCK|CI|FIRESTEEL_.*|CUDA_VISIBLE_DEVICES|NVIDIA_.*'
    pattern+='|CCACHE_.*|CMAKE_.*|CTEST_.*|CXXFLAGS|LDFLAGS|[ALTU]*SAN_OPTIONS|PIP_.*|SSL_CERT_.*'
    pattern+='|(http|https|ftp|no|all)_proxy|(HTTP|HTTPS|FTP|NO|ALL)_PROXY)$'
    variables=("HOME=$caller_home" "USER=$(id -un "$caller_uid" 2>/dev/null || echo "$caller_uid")" SHELL=/bin/bash)
    variables+=("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin${cuda:+:/usr/local/cuda/bin}")
    # The root has no locales but C.UTF-8; Qt and compilers need UTF-8.
    variables+=(LANG=C.UTF-8 "CCACHE_DIR=${CCACHE_DIR:-$cache/ccache}" "CCACHE_BASEDIR=$checkout" CCACHE_NOHASHDIR=1
        "FIRESTEEL_CACHE=$cache")
    while IFS= read -r name; do
        [[ ! $name =~ $pattern || $name =~ ^CCACHE_(DIR|BASEDIR|NOHASHDIR)$ || $name == FIRESTEEL_CACHE ]] \
            || variables+=("$name=${!name}")
    done < <(compgen -e)
    if [[ -n $mini ]]; then
        variables+=("FIRESTEEL_MODEL=${FIRESTEEL_MODEL:-$mini/model}" "FIRESTEEL_GOLDEN=${FIRESTEEL_GOLDEN:-$mini/golden}")
    fi
}

# Sets $mounts to what of the host is visible inside: all of it outside of the system's own folders, and what the session needs.
collect_mounts()
{
    local path
    mounts=(--bind /run)
    for path in /*; do
        case ${path#/} in
            bin | boot | dev | etc | lib | lib32 | lib64 | libx32 | lost+found | proc | run | sbin | sys | usr | var) ;;
            *) [[ ! -d $path || -L $path ]] || mounts+=(--bind "$path") ;;
        esac
    done
    # Homes, caches and directories in unusual places (/var/lib/..., /usr/src/...).
    for path in "$caller_home" "$cache" "$checkout" "$1"; do
        [[ ! $path =~ ^/(etc|usr|var)/ ]] || mounts+=(--bind "$path")
    done
    for path in /etc/passwd /etc/group /etc/localtime /etc/machine-id /etc/ssl/certs/ca-certificates.crt; do
        [[ ! -e $path ]] || mounts+=(--readonly "$(readlink -f "$path")=$path")
    done
    [[ -z $cuda ]] || mounts+=(--readonly "$cuda=/usr/local/cuda")
    [[ -z $mini ]] || mounts+=(--readonly "$mini")
}

# Sets $invocation to the command line that runs CMD inside: inside_invocation DIRECTORY CMD...
inside_invocation()
{
    local directory=$1 variables mounts mini=
    shift
    # The demonstration model's full-precision files, where they lie beside the checkout: what tests compare with. The app runs
    # the model that it comes with.
    [[ ${command:-} == run || ! -d $checkout/../shared/mini/model ]] || mini=$(readlink -f "$checkout/../shared/mini")
    collect_variables
    if [[ $kind == native ]]; then
        invocation=(env "${variables[@]}" "PATH=$PATH${cuda:+:$cuda/bin}" env -C "$directory" "$@")
        return
    fi
    as_root unshare --mount true 2>/dev/null \
        || die "mounting is not permitted here; run on the machine itself or in a privileged container"
    collect_mounts "$directory"
    invocation=(unshare --mount --propagation private "$BASH" "$checkout/installer/environment/enter" --root "$root"
        --cwd "$directory" --user "$caller_uid:$caller_gid:$caller_groups" "${mounts[@]}" -- "${variables[@]}" -- "$@")
    if ((EUID != 0)); then
        invocation=(sudo -- "${invocation[@]}")
    fi
}

inside()
{
    local invocation
    inside_invocation "$@"
    "${invocation[@]}"
}

exec_inside()
{
    local invocation
    inside_invocation "$@"
    exec "${invocation[@]}"
}
