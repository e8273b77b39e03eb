#!/usr/bin/env bash
# Builds everything and runs all tests; the last line reads 'N passed, N failed'. Installs what is missing.
# Tests on the shared data (../shared beside the checkout) are skipped, with a message, where it is not.
set -uo pipefail
source "$(dirname "$0")/setup.sh"

build all
cd "$ROOT"
shared="$ROOT/../shared"
passed=0 failed=0
results="$BUILD/test"
mkdir -p "$results"

# count NAME PASSED FAILED: one line for a suite, added to the sums.
count() {
  printf '%-34s %5d passed, %d failed\n' "$1" "$2" "$3"
  passed=$((passed + $2)) failed=$((failed + $3))
}
number() { grep -oE "$1" "$2" 2> /dev/null | tail -n 1 | grep -oE '[0-9]+' || echo 0; }

say "unit tests (GoogleTest)"
for program in "$BUILD"/bin/unit-*; do
  [ -x "$program" ] || continue
  name="$(basename "$program")"
  "$program" --gtest_brief=1 > "$results/$name.log" 2>&1
  status=$?
  ok="$(number 'PASSED  ] [0-9]+' "$results/$name.log")"
  bad="$(number '^ *[0-9]+ FAILED TEST' "$results/$name.log")"
  # A program that dies without a summary is one failure.
  [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
  [ "$bad" = 0 ] || grep -E -B 8 'FAILED|Sanitizer' "$results/$name.log" | head -n 60
  count "$name" "$ok" "$bad"
done

say "FileCheck tests (lit)"
lit="$(command -v lit-22 || command -v llvm-lit || echo /usr/lib/llvm-22/bin/llvm-lit)"
[ -x "$lit" ] || lit=/usr/lib/llvm-22/build/utils/lit/lit.py
"$lit" -s --param build="$BUILD" --xunit-xml-output="$results/lit.xml" -v test > "$results/lit.log" 2>&1
status=$?
# lit pads both the names and the numbers of its summary.
ok="$(number 'Passed *: +[0-9]+' "$results/lit.log")"
bad=$(( $(number 'Failed *: +[0-9]+' "$results/lit.log") + $(number 'Unresolved *: +[0-9]+' "$results/lit.log") ))
[ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
[ "$ok" != 0 ] || [ "$bad" != 0 ] || bad=1
[ "$bad" = 0 ] || tail -n 60 "$results/lit.log"
count lit "$ok" "$bad"

# Tables whose cases lit counts as one.
table() {
  python3 "test/$2" --tool "$BUILD/bin/hlo-opt" "test/$(dirname "$2")"/*.test > "$results/table.log" 2>&1
  grep -B 1 '^    ' "$results/table.log" | head -n 60
  count "$1" "$(number '^[0-9]+ passed' "$results/table.log")" "$(number '[0-9]+ failed$' "$results/table.log")"
}
table "malformed instructions" error/ops/cases.py
table "lowering of opcodes" transforms/lowering/lower.py

say "accuracy of element-wise functions"
"$ROOT/test/accuracy/run.sh" > "$results/accuracy.log" 2>&1
status=$?
ok="$(number '^[0-9]+ passed' "$results/accuracy.log")"
bad="$(number '[0-9]+ failed$' "$results/accuracy.log")"
[ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
[ "$bad" = 0 ] || grep -E 'WRONG|error' "$results/accuracy.log" | head -n 60
count accuracy "$ok" "$bad"

say "operations and element types"
python3 "$ROOT/test/optable/run.py" --tool="$BUILD/bin/hlo-run" --page="$ROOT/tools/hlo-compile/operations.txt" \
  > "$results/optable.log" 2>&1
ok="$(number '^[0-9]+ passed' "$results/optable.log")"
bad="$(number '[0-9]+ failed$' "$results/optable.log")"
[ "$ok" != 0 ] || [ "$bad" != 0 ] || bad=1
[ "$bad" = 0 ] || tail -n 60 "$results/optable.log"
count optable "$ok" "$bad"

say "benchmark modules compile and run"
python3 "$ROOT/test/performance/check.py" --tool="$BUILD/bin/hlo-run" > "$results/performance.log" 2>&1
ok="$(number '^[0-9]+ passed' "$results/performance.log")"
bad="$(number '[0-9]+ failed$' "$results/performance.log")"
[ "$ok" != 0 ] || [ "$bad" != 0 ] || bad=1
[ "$bad" = 0 ] || tail -n 60 "$results/performance.log"
count "benchmark modules" "$ok" "$bad"

say "the demo"
if "$ROOT/tools/demo.sh" > "$results/demo.log" 2>&1; then count demo 1 0; else tail "$results/demo.log"; count demo 0 1; fi
tail -n 1 "$results/demo.log"

if [ -d "$shared/conformance" ]; then
  python_with numpy ml_dtypes
  say "conformance: golden cases"
  "$PYTHON" "$shared/conformance/run.py" --tool "$BUILD/bin/hlo-run" --jobs "$(nproc)" --json "$results/conformance.json" \
    > "$results/conformance.log" 2>&1
  # Cases that are known not to pass yet are listed, one name a line, and may fail; all others may not.
  "$PYTHON" "$ROOT/test/known_failures.py" "$results/conformance.json" "$ROOT/test/conformance_known_failures.txt" \
    > "$results/conformance.txt"
  cat "$results/conformance.txt"
  count conformance "$(number '^[0-9]+ passed' "$results/conformance.txt")" "$(number '[0-9]+ failed$' "$results/conformance.txt")"
  say "feeds, host transfers, custom calls"
  # Of jaxlib only the C++ headers for typed custom calls are used.
  python_with jaxlib==0.10.2
  "$PYTHON" "$ROOT/test/check_feeds_and_calls.py" "$BUILD/bin/hlo-run" "$shared" > "$results/calls.txt" 2>&1
  cat "$results/calls.txt"
  count feeds-and-calls "$(number '^[0-9]+ passed' "$results/calls.txt")" "$(number '[0-9]+ failed$' "$results/calls.txt")"
  say "conformance: parser, and every module through --check"
  "$PYTHON" "$ROOT/test/check_modules.py" "$BUILD/bin/hlo-compile" "$shared" > "$results/check.txt"
  cat "$results/check.txt"
  count check "$(number '^[0-9]+ passed' "$results/check.txt")" "$(number '[0-9]+ failed$' "$results/check.txt")"
  if [ -d "$shared/replicated" ]; then
    say "programs of several ranks: golden cases"
    "$PYTHON" "$shared/replicated/run_replicated.py" --tool "$BUILD/bin/hlo-run" --lib "$shared/conformance" --jobs "$(nproc)" \
      > "$results/replicated.log" 2>&1
    ok="$(number '^[0-9]+ passed' "$results/replicated.log")" bad="$(number '[0-9]+ failed$' "$results/replicated.log")"
    [ "$ok" != 0 ] || [ "$bad" != 0 ] || bad=1
    [ "$bad" = 0 ] || grep -v '^ok' "$results/replicated.log" | cut -c1-200 | head -n 40
    count replicated "$ok" "$bad"
  else
    say "skipped: programs of several ranks; there is no ../shared/replicated beside the checkout"
  fi
else
  say "skipped: the golden cases and models; there is no ../shared beside the checkout"
fi

say "random texts: nothing makes the compiler die or hang"
python3 "$ROOT/test/fuzz/frontend.py" --tool="$BUILD/bin/hlo-compile" --seed=1 --count=600 --seconds=30 --keep="$BUILD/fuzz" \
  > "$results/frontend.txt"
[ "$(number '[0-9]+ failed$' "$results/frontend.txt")" = 0 ] || head -n 20 "$results/frontend.txt"
count frontend "$(number '^[0-9]+ passed' "$results/frontend.txt")" "$(number '[0-9]+ failed$' "$results/frontend.txt")"

say "random modules against XLA:CPU (two minutes at most)"
if (python_with jax==0.10.2 numpy ml_dtypes); then
  "$BUILD/venv/bin/python" "$ROOT/test/fuzz/run.py" --tool="$BUILD/bin/hlo-run" --seed=1 --count=300 --seconds=110 --keep="$BUILD/fuzz" \
    > "$results/fuzz.txt" 2>&1
  [ "$(number '[0-9]+ failed$' "$results/fuzz.txt")" = 0 ] || head -n 20 "$results/fuzz.txt"
  count fuzz "$(number '^[0-9]+ passed' "$results/fuzz.txt")" "$(number '[0-9]+ failed$' "$results/fuzz.txt")"
  "$BUILD/venv/bin/python" "$ROOT/test/fuzz/dynamic.py" --tool="$BUILD/bin/hlo-run" --seed=1 --count=60 --seconds=20 --keep="$BUILD/fuzz" \
    > "$results/dynamic.txt" 2>&1
  [ "$(number '[0-9]+ failed$' "$results/dynamic.txt")" = 0 ] || head -n 20 "$results/dynamic.txt"
  count dynamic "$(number '^[0-9]+ passed' "$results/dynamic.txt")" "$(number '[0-9]+ failed$' "$results/dynamic.txt")"
else
  say "skipped: random modules; jax, which is what they are compared with, cannot be installed"
fi

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
