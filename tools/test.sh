#!/usr/bin/env bash
# Builds everything and runs all tests; the last line reads 'N passed, N failed'. Installs missing packages.
#   tools/test.sh [--only=SUITE,...] [--list] [--no-build]
# Suites are named by --list; a name may be a pattern: --only='unit-*'. --no-build tests the existing build/.
# Each suite's log is build/test/results/SUITE.log.
# Tests on the shared data (../shared, next to the checkout) are skipped, with a message, if it does not exist. To add a suite: one line below
# (see suites.sh).
set -uo pipefail
source "$(dirname "$0")/setup.sh"
source "$(dirname "$0")/suites.sh"

suites_begin "$BUILD/test/results" "$@"
cd "$ROOT" || exit 1
shared="$ROOT/../shared"
bin="$BUILD/bin"
PYTHON="$BUILD/venv/bin/python" packages=""
if [ -z "$suite_list" ]; then
  [ -n "$suite_no_build" ] || build all
  # Before the first suite, because tests look for installed packages. Typed custom calls need only jaxlib's C++ headers.
  # shellcheck disable=SC2015  # `packages` is the result
  (python_with numpy ml_dtypes jax==0.10.2 jaxlib==0.10.2) && packages=1 || PYTHON=python3
fi
[ -n "$suite_list" ] || rm -rf "$BUILD/test/lit/e2e-cache" # values that e2e tests of earlier sources expected
[ -n "$suite_list" ] || say "tests (logs: build/test/results)"

# Programs of GoogleTest, one per folder of test/unit.
for folder in $(grep -lE '^hlo_unit_test|LABELS unit' test/unit/*/CMakeLists.txt); do
  name="unit-$(basename "$(dirname "$folder")")"
  suite --limit=900 "$name" python3 test/count.py gtest "$bin/$name"
done
suite ctest python3 test/count.py ctest "$BUILD"
suite --limit=1800 lit python3 test/count.py lit "$BUILD"
suite --limit=900 runtime-asan test/sanitizers/run.sh asan
suite --limit=900 runtime-tsan test/sanitizers/run.sh tsan
# Tables whose cases lit counts as one.
suite malformed python3 test/error/ops/cases.py --tool "$bin/hlo-opt" test/error/ops/*.test
suite lowering python3 test/transforms/lowering/lower.py --tool "$bin/hlo-opt" test/transforms/lowering/*.test
suite --limit=900 accuracy test/accuracy/run.sh
suite --limit=900 optable python3 test/optable/run.py --tool="$bin/hlo-run" --page=tools/hlo-compile/operations.txt
suite --limit=900 benchmark-modules python3 test/performance/check.py --tool="$bin/hlo-run"
suite --status demo tools/demo.sh
suite --limit=600 languages test/languages/run.sh
suite --limit=900 docs python3 test/docs/run.py --build="$BUILD"
# The C++ builder: every section of the specification, and random programs.
suite --limit=600 builder-table python3 test/builder_table.py "$bin/unit-builder-seed" "$shared"
suite builder-random "$bin/fuzz-builder" --seed=1 --count=100
# Mutated texts: the compiler must neither crash nor hang.
suite frontend python3 test/fuzz/frontend.py --tool="$bin/hlo-compile" --seed=1 --count=600 --seconds=30 --keep="$BUILD/fuzz"
# Programs of libFuzzer: the parser, MLIR, arrays, attributes, calls of handlers.
suite --limit=900 coverage python3 test/fuzz/targets/run.py --build="$BUILD" --seconds=20 ${suite_no_build:+--no-build}

# Functions exported from JAX and called from C; random modules against XLA:CPU, two minutes at most.
if [ -n "$packages$suite_list" ]; then
  suite rivals "$PYTHON" test/performance/rivals/check.py --tool="$bin/hlo-run"
  suite jax "$PYTHON" test/jax/run.py --build="$BUILD"
  suite texts "$PYTHON" test/jax/texts.py --tool="$bin/hlo-run" --every=8 --jobs="$(nproc)" --keep="$BUILD/fuzz"
  suite sizes "$PYTHON" test/jax/symbolic.py --build="$BUILD" --every=8 --keep="$BUILD/fuzz"
  suite guarded "$PYTHON" test/jax/guarded.py --build="$BUILD"
  PYTHON="$PYTHON" suite --limit=600 python test/python/run.sh
  suite bounds "$PYTHON" test/fuzz/bounds/test.py
  suite fuzz "$PYTHON" test/fuzz/run.py --tool="$bin/hlo-run" --seed=1 --count=300 --seconds=110 --keep="$BUILD/fuzz"
  suite stablehlo "$PYTHON" test/fuzz/stablehlo.py --tool="$bin/hlo-run" --seed=1 --count=150 --seconds=40 --jobs="$(nproc)" --keep="$BUILD/fuzz"
  suite quantized "$PYTHON" test/fuzz/quantized.py --tool="$bin/hlo-run" --seed=1 --count=60 --keep="$BUILD/fuzz"
  suite sharded "$PYTHON" test/fuzz/sharded.py --tool="$bin/hlo-run" --seed=1 --count=100 --jobs="$(nproc)" --keep="$BUILD/fuzz"
  suite sharded-ops "$PYTHON" test/spmd/ops.py --tool="$bin/hlo-run" --jobs="$(nproc)"
  suite dynamic "$PYTHON" test/fuzz/dynamic.py --tool="$bin/hlo-run" --seed=1 --count=60 --seconds=20 --keep="$BUILD/fuzz"
else
  for name in rivals jax texts sizes guarded python bounds fuzz stablehlo quantized sharded sharded-ops dynamic; do skip_suite "$name" "jax, numpy and ml_dtypes cannot be installed"; done
fi

# Golden cases and models.
if [ ! -d "$shared" ]; then
  for name in conformance entry-layouts aarch64 aarch64-max riscv64 feeds-and-calls check replicated spmd symbolic; do skip_suite "$name" "there is no ../shared beside the checkout"; done
elif [ -z "$packages$suite_list" ]; then
  for name in conformance entry-layouts aarch64 aarch64-max riscv64 feeds-and-calls check replicated spmd symbolic; do skip_suite "$name" "numpy and ml_dtypes cannot be installed"; done
else
  suite --limit=1800 conformance "$PYTHON" test/known_failures.py "$BUILD/test/results/conformance.json" test/conformance_known_failures.txt \
    "$PYTHON" "$shared/conformance/run.py" --tool "$bin/hlo-run" --jobs "$(nproc)" --json "$BUILD/test/results/conformance.json"
  # Once more with the layouts of the text, where it has any. An empty filter would be all cases.
  filter="$(python3 test/entry_layout_cases.py "$shared/conformance")"
  suite entry-layouts "$PYTHON" "$shared/conformance/run.py" --tool "$bin/hlo-run" --jobs "$(nproc)" \
    --filter "${filter:-^$}" -- --entry-layout=text
  # Under an emulator, a CPU with as few instructions as there are and one with all; test/aarch64 says what this cannot show.
  if [ -x "$BUILD/lib/aarch64-linux-gnu/hlo-run-guest" ]; then
    suite --limit=600 aarch64 "$PYTHON" test/known_failures.py --some "$BUILD/test/results/aarch64.json" \
      test/conformance_known_failures.txt "$PYTHON" "$shared/conformance/run.py" --tool "$bin/hlo-run" --jobs "$(nproc)" \
      --json "$BUILD/test/results/aarch64.json" \
      --filter 'dot|conv|bf16|float16|sort|fft|exp|tanh|log' -- --target=aarch64-linux-gnu --emulator='qemu-aarch64 -cpu cortex-a72'
    suite --limit=600 aarch64-max "$PYTHON" test/known_failures.py --some "$BUILD/test/results/aarch64-max.json" \
      test/conformance_known_failures.txt "$PYTHON" "$shared/conformance/run.py" --tool "$bin/hlo-run" --jobs "$(nproc)" \
      --json "$BUILD/test/results/aarch64-max.json" \
      --filter 'dot|conv|bf16|float16|int8' -- --target=aarch64-linux-gnu --cpu=neoverse-v1 --emulator='qemu-aarch64 -cpu max'
  else
    for name in aarch64 aarch64-max; do skip_suite "$name" "there is no cross compiler for aarch64"; done
  fi
  if [ -x "$BUILD/lib/riscv64-linux-gnu/hlo-run-guest" ]; then
    suite --limit=600 riscv64 "$PYTHON" test/known_failures.py --some "$BUILD/test/results/riscv64.json" \
      test/conformance_known_failures.txt "$PYTHON" "$shared/conformance/run.py" --tool "$bin/hlo-run" --jobs "$(nproc)" \
      --json "$BUILD/test/results/riscv64.json" \
      --filter 'dot|conv|bf16|float16|sort|fft|exp|int8' -- --target=riscv64-linux-gnu
  else
    skip_suite riscv64 "there is no cross compiler for riscv64"
  fi
  suite feeds-and-calls "$PYTHON" test/check_feeds_and_calls.py "$bin/hlo-run" "$shared"
  suite --limit=900 check "$PYTHON" test/check_modules.py "$bin/hlo-compile" "$shared"
  suite --limit=1800 replicated "$PYTHON" "$shared/replicated/run_replicated.py" --tool "$bin/hlo-run" --lib "$shared/conformance" \
    --jobs "$(nproc)"
  suite --limit=1800 spmd "$PYTHON" "$shared/spmd/run_spmd.py" --tool "$bin/hlo-run" --cases "$shared/spmd/cases" --jobs "$(nproc)"
  suite --limit=900 symbolic "$PYTHON" "$shared/symbolic/run_symbolic.py" --tool "$bin/hlo-run" --cases "$shared/symbolic/cases"
fi

suites_end
