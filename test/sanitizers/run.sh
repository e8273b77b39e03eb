#!/usr/bin/env bash
# The runtime's unit tests, and programs that are linked with it, under sanitizers:
#   test/sanitizers/run.sh asan|tsan
# `asan` is AddressSanitizer with LeakSanitizer and UndefinedBehaviorSanitizer. The compiler is that of build/. The last line reads
# 'N passed, N failed'.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
kind="${1:?asan or tsan}"
build="${HLO_BUILD:-build}" runtime="${HLO_BUILD:-build}/runtime-$kind"
case "$kind" in
  asan) flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g" ;;
  tsan) flags="-fsanitize=thread -g" ;;
  *) echo "unknown kind: $kind"; exit 2 ;;
esac
# Tests ask for more memory than there is: that gives null, as without sanitizers.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1
[ -f "$runtime/build.ninja" ] || cmake --preset "runtime-$kind" -B "$runtime" > /dev/null || exit 1
ninja -C "$runtime" || exit 1

# Of all lit tests those that link a program with the runtime; not those that start CMake or MPI with a compiler of their own,
# nor those that measure stacks, which sanitizers make larger.
mapfile -t tests < <(grep -rlE '^(#|//) RUN: .*%c(c|xx).* %rt( |$)' test --include='*.test' --include='*.hlo' | grep -v '^test/stack/' | sort)

passed=0 failed=0
# add COMMAND...: the tests that it counts.
add() {
  local output last
  output="$("$@" 2>&1)"
  printf '%s\n' "$output"
  last="${output##*$'\n'}"
  [[ "$last" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || last="0 passed, 1 failed"
  [ "$last" != "0 passed, 0 failed" ] || last="0 passed, 1 failed"
  # shellcheck disable=SC2086
  set -- $last
  passed=$((passed + $1)) failed=$((failed + $3))
}
add python3 test/count.py gtest "$runtime/bin/unit-runtime"
add python3 test/count.py lit "$build" --param "runtime=$runtime" --param "flags=$flags" "${tests[@]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
