#!/usr/bin/env bash
# Builds the compiler, compiles a trained network, links it into a C program and runs that: 360 images of
# digits, the accuracy compared with JAX's own. Installs missing packages.
set -euo pipefail
source "$(dirname "$0")/setup.sh"
set -o pipefail

build hlo-compile hlo_rt
out="$BUILD/demo"
mkdir -p "$out"
say "hlo-compile examples/digits/digits.hlo"
"$BUILD/bin/hlo-compile" "$ROOT/examples/digits/digits.hlo" --cpu=host -o "$out/digits.o" --header="$out/digits.h"
say "cc examples/digits/main.c digits.o libhlo_rt.a"
cc -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -I"$ROOT/runtime/abi" -I"$out" "$ROOT/examples/digits/main.c" \
  "$out/digits.o" "$BUILD/lib/libhlo_rt.a" -lm -lpthread -o "$out/digits"
say "digits"
"$out/digits" "$ROOT/examples/digits/digits_test.bin"
