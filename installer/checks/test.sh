# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables that installer/tasks sets
#
# What `installer/dev test` runs: a row of steps, each timed and counted. A step that fails does not hide the next ones, unless
# a build broke. Sourced by installer/tasks.

total_passed=0 total_failed=0 total_skipped=0 summary=() running=''

test_native()
{
    trap finish EXIT
    # Qt suites draw off screen; a suite that needs an X server starts Xvfb itself.
    export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen}
    step "release" run_suites release -LE bench
    step "lint" lint
    # The trained model takes minutes under a sanitizer; tiny checkpoints go through the same code.
    unset FIRESTEEL_MODEL FIRESTEEL_GOLDEN
    step "dev (ASan, UBSan)" run_suites dev -LE bench
    step "tsan" run_threaded_suites
    step "fuzz smoke" fuzz_smoke
}

test_arm64()
{
    trap finish EXIT
    if [[ $(uname -m) == aarch64 ]]; then
        step "arm64" run_suites engine -LE bench
    else
        step "arm64 (qemu)" run_suites arm64 -LE bench
    fi
}

# step NAME FUNCTION ARGS...: counts what the function adds to $step_*; a function that counts nothing is one check.
step()
{
    local name=$1 start=$SECONDS status=0 minutes
    shift
    running=$name
    step_passed=0 step_failed=0 step_skipped=0
    say "test: $name"
    "$@" || status=$?
    if ((step_passed + step_failed == 0)); then
        if ((status == 0)); then step_passed=1; else step_failed=1; fi
    elif ((status != 0 && step_failed == 0)); then
        step_failed=1
    fi
    running=''
    minutes=$(awk -v s=$((SECONDS - start)) 'BEGIN { printf "%.1f", s / 60 }')
    summary+=("$(printf '%-20s %5d passed %3d failed %3d skipped %6s min' \
        "$name" "$step_passed" "$step_failed" "$step_skipped" "$minutes")")
    total_passed=$((total_passed + step_passed))
    total_failed=$((total_failed + step_failed))
    total_skipped=$((total_skipped + step_skipped))
}

# Prints what ran, however the run ends. The last line is the one that tools read.
finish()
{
    if [[ -n $running ]]; then
        total_failed=$((total_failed + 1))
        summary+=("$(printf '%-20s stopped here' "$running")")
    fi
    printf '\n'
    printf '%s\n' "${summary[@]}"
    printf '\n%d passed, %d failed, %d skipped\n' "$total_passed" "$total_failed" "$total_skipped"
    ((total_failed == 0)) || exit 1
}

# run_suites PRESET CTEST_ARGS...: builds the preset and runs its suites.
run_suites()
{
    local preset=$1
    shift
    build_preset "$preset"
    run_ctest "$preset" "$@"
}

# ThreadSanitizer where threads meet: the serving thread, its queues, the thread pool.
run_threaded_suites()
{
    local suites
    build_preset tsan firesteel_engine
    mapfile -t suites < <(ninja -C build/tsan -t targets all | sed -nE 's/^(tst_(serve|engine_thread|thread_pool|base|state)): .*/\1/p' | sort -u)
    ((${#suites[@]} > 0)) || die "no suite with threads was found for the tsan preset"
    build_preset tsan "${suites[@]}"
    run_ctest tsan -LE bench -R "^($(IFS='|'; echo "${suites[*]}")):"
}

run_ctest()
{
    local preset=$1 status=0 report=build/$1/ctest.xml
    shift
    rm -f "$report"
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$jobs" \
        --output-junit "$checkout/$report" "$@" || status=$?
    [[ -e $report ]] || return 1
    local failed skipped tests
    tests=$(suite_attribute "$report" tests)
    failed=$(suite_attribute "$report" failures)
    skipped=$(($(suite_attribute "$report" skipped) + $(suite_attribute "$report" disabled)))
    step_passed=$((step_passed + tests - failed - skipped))
    step_failed=$((step_failed + failed))
    step_skipped=$((step_skipped + skipped))
    return "$status"
}

suite_attribute()
{
    grep -oE -m 1 "\b$2=\"[0-9]+\"" "$1" | head -n 1 | grep -oE '[0-9]+'
}

fuzz_smoke()
{
    fuzz_targets 5
    step_passed=$fuzzed
}
