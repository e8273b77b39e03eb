#!/bin/sh
# check_headers.sh ABI_DIR: compiles every public header (but adapters to libraries of others: test/abi) alone, as each language version, with every
# warning an error, under gcc and clang where installed.
set -u
abi=$1
failed=0
checked=0
check() { # compiler language-option header
  for compiler in $1; do
    command -v "$compiler" >/dev/null || continue
    checked=$((checked + 1))
    echo "#include <hlo/$3>" | "$compiler" $2 -Wall -Wextra -Wconversion -pedantic -Werror \
      -fsyntax-only -I "$abi" - || { echo "FAILED: $compiler $2 <hlo/$3>"; failed=1; }
  done
}
for path in "$abi"/hlo/*.h; do
  header=$(basename "$path")
  case $header in executor_*) continue ;; esac
  for standard in c99 c11; do
    check "gcc clang clang-22" "-x c -std=$standard" "$header"
  done
  for standard in c++11 c++17 c++20; do
    check "g++ clang++ clang++-22" "-x c++ -std=$standard" "$header"
  done
done
for path in "$abi"/hlo/*.hpp; do
  for options in -std=c++17 "-std=c++17 -fno-exceptions -fno-rtti" -std=c++20 "-std=c++20 -fno-exceptions -fno-rtti"; do
    check "g++ clang++ clang++-22" "-x c++ $options" "$(basename "$path")"
  done
done
echo "$checked compilations"
[ "$checked" -gt 0 ] && [ "$failed" -eq 0 ]
