#!/usr/bin/env bash
# Compiles a module per opcode and element type for some CPUs, and runs them all over many arguments; see README.md.
#   test/accuracy/run.sh [--cpus="host x86-64-v3 x86-64"] [--filter=REGEX] [--full | --exhaustive] [--jobs=N] [--list=N]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
build="${HLO_BUILD:-$root/build}"
work="${HLO_ACCURACY_DIR:-$build/accuracy}"
cpus="host x86-64-v3 x86-64" jobs="$(nproc)" filter="" options=()
for argument in "$@"; do
  case "$argument" in
    --cpus=*) cpus="${argument#*=}" ;;
    --jobs=*) jobs="${argument#*=}" ;;
    --filter=*) filter="${argument#*=}" ;;
    *) options+=("$argument") ;;
  esac
done

mkdir -p "$work"
objects=()
for source in "$here"/*.cpp; do
  object="$work/$(basename "$source" .cpp).o"
  objects+=("$object")
  # Any header may have changed.
  if [ -n "$(find "$here" -name '*.h' -newer "$object" 2> /dev/null)" ] || [ ! "$object" -nt "$source" ]; then
    printf '%s\0%s\0' "$source" "$object"
  fi
done > "$work/sources"
xargs -0 -r -n 2 -P "$jobs" sh -c 'g++ -std=gnu++20 -O2 -fext-numeric-literals -Wall -Wextra -c "$0" -o "$1"' < "$work/sources"
g++ "${objects[@]}" -o "$work/accuracy" -lquadmath -ldl -lpthread

libraries=()
for cpu in $cpus; do
  folder="$work/$cpu"
  rm -rf "$folder"
  mkdir -p "$folder"
  "$work/accuracy" --modules="$folder" --filter="$filter"
  (cd "$folder" && find . -name '*.hlo' -print0 |
    xargs -0 -r -n 1 -P "$jobs" sh -c '"$0" "$2" --name="$(basename "$2" .hlo)" --cpu="$1" --jobs=1 -o "${2%.hlo}.o"' \
      "${HLO_COMPILE:-$build/bin/hlo-compile}" "$cpu")
  (cd "$folder" && cc -shared -o modules.so ./*.o "$build/lib/libhlo_rt.a" -lm -lpthread)
  libraries+=("$cpu=$folder/modules.so")
done
exec "$work/accuracy" --filter="$filter" --jobs="$jobs" "${options[@]}" "${libraries[@]}"
