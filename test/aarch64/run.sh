#!/usr/bin/env bash
# What modules compute for aarch64, on CPUs of qemu, each with the code for it: every suite that runs modules. By hand; test.sh
# runs a part.
#   test/aarch64/run.sh [--only=SUITE,...] [--list]      e.g. --only='golden-*,e2e-max'
# Logs are build/test/aarch64/SUITE.log. The last line reads 'N passed, N failed'.
set -uo pipefail
source "$(dirname "$0")/../../tools/setup.sh"
source "$(dirname "$0")/../../tools/suites.sh"

results="$BUILD/test/aarch64"
suites_begin "$results" "$@"
cd "$ROOT" || exit 1
shared="$ROOT/../shared" bin="$BUILD/bin" python="$BUILD/venv/bin/python" target=aarch64-linux-gnu

# all CPU EMULATED: code for CPU on qemu's EMULATED.
all() {
  local cpu="$1" emulator="qemu-aarch64 -cpu $2" name="$2"
  local flags=("--target=$target" "--cpu=$cpu" "--emulator=$emulator")
  local tool="$bin/hlo-run --target=$target --cpu=$cpu --emulator='$emulator'"
  suite --limit=1800 "golden-$name" "$python" test/known_failures.py "$results/golden-$name.json" \
    test/conformance_known_failures.txt "$python" "$shared/conformance/run.py" --tool "$bin/hlo-run" --jobs "$(nproc)" \
    --timeout 120 --json "$results/golden-$name.json" -- "${flags[@]}"
  suite --limit=1800 "e2e-$name" python3 test/e2e/run.py --tool="$tool" --jobs="$(nproc)" test/e2e
  suite --limit=1800 "optable-$name" python3 test/optable/run.py --tool="$tool"
  suite --limit=1800 "replicated-$name" "$python" "$shared/replicated/run_replicated.py" --tool "$bin/hlo-run" \
    --lib "$shared/conformance" --jobs "$(nproc)" -- "${flags[@]}"
  suite --limit=900 "feeds-and-calls-$name" "$python" test/check_feeds_and_calls.py "$bin/hlo-run" "$shared" "${flags[@]}"
  HLO_ACCURACY_DIR="$results/accuracy-$name" \
    suite --limit=3600 "accuracy-$name" test/accuracy/run.sh --cpus="$cpu" --target="$target" --emulator="$emulator"
  suite --limit=1800 "fuzz-$name" "$python" test/fuzz/run.py --tool="$tool" --seed=1 --count=300 --keep="$results/fuzz-$name"
  suite --status "demo-$name" tools/demo.sh "${flags[@]}"
}

all cortex-a72 cortex-a72   # neither dotprod nor arithmetic of f16
all neoverse-n1 neoverse-n1 # both, no i8mm
all neoverse-v1 max         # all; qemu 7.2 has no core with i8mm and bf16

suites_end
