#!/usr/bin/env bash
# Builds the compiler, compiles a trained network, links it into a C program and runs that: 360 images of
# digits, the accuracy compared with JAX's own. Installs missing packages.
#   tools/demo.sh [--target=TRIPLE [--cpu=NAME] [--emulator=COMMAND]]
# With --target for another architecture: linked by its cross compiler, run under the emulator.
set -euo pipefail
source "$(dirname "$0")/setup.sh"
set -o pipefail

target="" cpu="" emulator=()
for argument in "$@"; do
  case "$argument" in
    --target=*) target="${argument#*=}" ;;
    --cpu=*) cpu="${argument#*=}" ;;
    --emulator=*) read -r -a emulator <<< "${argument#*=}" ;;
    *) die "unknown argument: $argument" ;;
  esac
done
out="$BUILD/demo${target:+-$target}"
if [ -n "$target" ]; then
  build hlo-compile "runtime-$target"
  flags=("--target=$target" ${cpu:+"--cpu=$cpu"}) cc="$target-gcc" runtime="$BUILD/lib/$target/libhlo_rt.a"
  [ ${#emulator[@]} != 0 ] || emulator=("qemu-${target%%-*}")
  export QEMU_LD_PREFIX="/usr/$target"
else
  build hlo-compile hlo_rt
  flags=("--cpu=${cpu:-host}") cc=cc runtime="$BUILD/lib/libhlo_rt.a"
fi
mkdir -p "$out"
say "hlo-compile examples/digits/digits.hlo ${flags[*]}"
"$BUILD/bin/hlo-compile" "$ROOT/examples/digits/digits.hlo" "${flags[@]}" -o "$out/digits.o" --header="$out/digits.h"
say "$cc examples/digits/main.c digits.o libhlo_rt.a"
"$cc" -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -I"$ROOT/runtime/abi" -I"$out" "$ROOT/examples/digits/main.c" \
  "$out/digits.o" "$runtime" -lm -lpthread -o "$out/digits"
say "${emulator[*]:-}${emulator:+ }digits"
"${emulator[@]}" "$out/digits" "$ROOT/examples/digits/digits_test.bin"
