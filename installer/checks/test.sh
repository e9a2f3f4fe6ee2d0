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
    # Engine, kernels and endpoint: Qt's libraries are not built with sanitizers, and leaks inside them would drown ours.
    # Cases that quantize whole folders and the twenty questions take minutes there; others go through the same code.
    step "dev (ASan, UBSan)" run_chosen_suites dev 'tests/(engine|kernels|app/api)/.*' \
        -E '^tst_quantize:(the reference|a run |calibrated|errors are|what cannot|zeros|a quantized folder|another)|^tst_serve:twenty'
    # Where threads meet: the serving thread with its queues, the thread pool, the endpoint.
    step "tsan" run_chosen_suites tsan 'tests/(engine/serve/|kernels/|app/api/tst_api_server).*' -E '^tst_serve:twenty'
    step "fuzz smoke" fuzz_smoke
}

test_arm64()
{
    trap finish EXIT
    if [[ $(uname -m) == aarch64 ]]; then
        step "arm64" run_suites engine -LE bench
    else
        # What depends on the processor: arithmetic, bytes and text. Threads, queues and commands are the same code as on this
        # machine and would take half an hour under an emulator. Four goldens show that the trained model's arithmetic is the same.
        step "arm64 goldens (qemu)" arm64_goldens
        unset FIRESTEEL_MODEL FIRESTEEL_GOLDEN
        step "arm64 (qemu)" run_chosen_suites arm64 'tests/(kernels|engine/(base|text|checkpoint|model|decode))/.*'
    fi
}

arm64_goldens()
{
    build_preset arm64 tst_golden
    run_ctest arm64 -R '^tst_golden:golden logits: (short_chat|code|json|unicode)$'
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

# run_chosen_suites PRESET PATH_PATTERN CTEST_ARGS...: builds and runs only the doctest suites whose path in the build folder
# matches.
run_chosen_suites()
{
    local preset=$1 pattern=$2 suites
    shift 2
    cmake --preset "$preset" >/dev/null || die "cmake could not configure preset '$preset'"
    mapfile -t suites < <(ninja -C "build/$preset" -t targets all \
        | grep -E "^$pattern: CXX_EXECUTABLE" | sed -E 's#:.*##; s#.*/##' | grep -E '^tst_[a-z_]+$' | sort -u)
    ((${#suites[@]} > 0)) || die "preset '$preset' has no suite below $pattern"
    build_preset "$preset" "${suites[@]}"
    run_ctest "$preset" -LE bench -R "^($(IFS='|'; echo "${suites[*]}")):" "$@"
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
