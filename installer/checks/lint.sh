# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables that installer/tasks sets
#
# The static checks; each finding is an error. Needs the release build, whose compile commands and generated headers clang-tidy
# reads. Sourced by installer/tasks.

lint()
{
    local failed=0
    say "lint: clang-format"
    sources_of '*.cpp' '*.h' '*.cu' '*.cuh' | xargs -0 -r clang-format --dry-run -Werror || failed=1
    say "lint: shellcheck"
    shell_scripts | xargs -0 -r shellcheck || failed=1
    say "lint: qmllint"
    lint_qml || failed=1
    say "lint: clang-tidy"
    # Tests are compiled with the same warnings; the costly analysis is for what ships.
    sources_of 'app/*.cpp' 'engine/*.cpp' 'kernels/*.cpp' 'qml/*.cpp' | installer/checks/tidy --build build/release --cache "$cache/tidy" --jobs "$jobs" || failed=1
    return "$failed"
}

shell_scripts()
{
    sources_of installer .ci tests | while IFS= read -r -d '' file; do
        case $file in
            *.sh) printf '%s\0' "$file" ;;
            *) ! head -n 1 "$file" | tr -d '\0' | grep -qE '^#!.*\b(ba)?sh\b' || printf '%s\0' "$file" ;;
        esac
    done
}

lint_qml()
{
    ninja -C build/release -t targets all | grep -q '^all_qmllint:' || return 0
    cmake --build build/release --target all_qmllint
}
