#!/usr/bin/env bash
# Compiles a module per opcode and element type for some CPUs, and runs them all over many arguments; see README.md.
#   test/accuracy/run.sh [--cpus="host x86-64-v3 x86-64"] [--filter=REGEX] [--full | --exhaustive] [--jobs=N] [--list=N]
#                        [--target=TRIPLE [--emulator=COMMAND]]
# With --target the cross compiler TRIPLE-gcc links the modules, which are called under the emulator (default: qemu-ARCH).
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
build="${HLO_BUILD:-$root/build}"
work="${HLO_ACCURACY_DIR:-$build/accuracy}"
cpus="host x86-64-v3 x86-64" jobs="$(nproc)" filter="" options=() target="" emulator=""
for argument in "$@"; do
  case "$argument" in
    --cpus=*) cpus="${argument#*=}" ;;
    --jobs=*) jobs="${argument#*=}" ;;
    --target=*) target="${argument#*=}" ;;
    --emulator=*) emulator="${argument#*=}" ;;
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

cc=cc runtime="$build/lib/libhlo_rt.a" libraries=()
if [ -n "$target" ]; then
  cc="$target-gcc" runtime="$build/lib/$target/libhlo_rt.a"
  options+=("--caller=${emulator:-qemu-${target%%-*}} -L /usr/$target $work/caller-$target")
  "$cc" -std=c11 -O2 "$here/caller.c" -ldl -o "$work/caller-$target"
fi
for cpu in $cpus; do
  folder="$work/$cpu"
  rm -rf "$folder"
  mkdir -p "$folder"
  "$work/accuracy" --modules="$folder" --filter="$filter"
  (cd "$folder" && find . -name '*.hlo' -print0 |
    xargs -0 -r -n 1 -P "$jobs" sh -c '"$0" "$3" --name="$(basename "$3" .hlo)" --cpu="$1" --target="$2" --jobs=1 -o "${3%.hlo}.o"' \
      "${HLO_COMPILE:-$build/bin/hlo-compile}" "$cpu" "$target")
  (cd "$folder" && "$cc" -shared -o modules.so ./*.o "$runtime" -lm -lpthread)
  libraries+=("$cpu=$folder/modules.so")
done
exec "$work/accuracy" --filter="$filter" --jobs="$jobs" "${options[@]}" "${libraries[@]}"
