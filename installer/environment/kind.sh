# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Decides where Firesteel is built: on the host ("native") where its own packages are new enough, else in a Debian 13 root
# ("root"). Called by installer/dev; tests/installer/tst_kind.sh calls it with other hosts' files.

# environment_kind OS_RELEASE: prints native or root.
environment_kind()
{
    local os_release=$1 id version
    id=$(os_release_field "$os_release" ID)
    version=$(os_release_field "$os_release" VERSION_ID)
    if [[ $id == debian ]]; then
        # Testing and unstable carry no VERSION_ID.
        if [[ -z $version ]] || ((${version%%.*} >= 13)); then echo native; else echo root; fi
    elif command -v apt-cache >/dev/null \
        && candidate_at_least qt6-base-dev 6.8 && candidate_at_least libkf6syntaxhighlighting-dev 6.0; then
        echo native
    else
        echo root
    fi
}

# os_release_field FILE KEY: the value without its quotes; empty where absent.
os_release_field()
{
    sed -n "s/^$2=//p" "$1" 2>/dev/null | head -n 1 | tr -d "\"'"
}

# candidate_at_least PACKAGE VERSION: whether apt would install at least this version.
candidate_at_least()
{
    local candidate
    candidate=$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p')
    candidate=${candidate#*:}
    [[ -n $candidate && $candidate != "(none)" ]] || return 1
    [[ $(printf '%s\n%s\n' "$2" "$candidate" | sort -V | head -n 1) == "$2" ]]
}
