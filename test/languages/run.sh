#!/usr/bin/env bash
# The programs of examples/languages and of examples/cxx: built with all warnings as errors, run, and their output
# compared with a computation in double precision. The last line reads 'N passed, N failed'.
#   run.sh [LANGUAGE...]      cxx, rust, go, fortran, java; all by default
# Installs compilers that are missing (LANGUAGE_PACKAGES of tools/setup.sh); a language whose compiler cannot be had is
# skipped, and a line says so. HLO_BUILD is the build folder.
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
source "$here/../../tools/setup.sh"

work="$BUILD/test/languages" examples="$ROOT/examples/languages"
passed=0 failed=0
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
export LD_LIBRARY_PATH="$work:$BUILD/lib"

# check NAME COMMAND...: one test.
check() {
  local name="$1" start=$SECONDS
  shift
  if "$@" > "$name.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "FAILED $name: $*"
    tail -n 30 "$name.log"
  fi
}

# has_program NAME: says so if it has not.
has_program() {
  hash -r
  command -v "$1" > /dev/null || { echo "skipped $1: it cannot be installed"; return 1; }
}

# trains ERROR COMMAND...: prints the training that is expected, then the error of an array that is too short.
trains() {
  local error="$1"
  shift
  "$@" > output.txt || return
  cat output.txt
  python3 "$here/expected.py" | diff - <(head -n 2 output.txt) && tail -n +3 output.txt | diff - <(echo "$error")
}
bytes="error: HLO_ERR_VIEW: regression: input 1 (y) needs 32 bytes, given 28"
elements="HLO_ERR_VIEW: regression: input 1 (y) needs 8 elements, given 7"

# layouts COMMAND...: compares what it prints with the layouts of the ABI.
layouts() { "$@" | python3 "$here/layout.py" "$ROOT/test/abi/layout.txt"; }

# The module, once for all.
"$BUILD/bin/hlo-compile" "$ROOT/examples/cxx/regression.hlo" -o regression.o --header=regression.h \
  --cxx-header=regression.hpp --namespace=examples &&
  cc -shared regression.o -o libregression.so -L"$BUILD/lib" -lhlo_rt ||
  { echo "the module cannot be compiled"; echo "0 passed, 1 failed"; exit 1; }

test_cxx() {
  local compiler
  for compiler in g++ clang++-22; do
    has_program "$compiler" || continue
    check "cxx-$compiler" "$compiler" -std=c++17 -O2 -Wall -Wextra -pedantic -Werror "$ROOT/examples/cxx/main.cpp" -I. \
      -I"$ROOT/runtime/abi" -L. -L"$BUILD/lib" -lregression -lhlo_rt -o "cxx-$compiler"
    check "cxx-$compiler-runs" trains "$elements" "./cxx-$compiler"
  done
}

test_rust() {
  has_program rustc || return
  # Debian's version is the oldest that must do; another may come first on the path.
  local compiler number=0
  for compiler in $(type -ap rustc | xargs -n 1 dirname | xargs readlink -f | sort -u); do
    compiler+=/rustc
    number=$((number + 1))
    "$compiler" --version || continue
    local flags=(--edition 2021 -D warnings -L "$work" -L "$BUILD/lib")
    check "rust-$number" "$compiler" "${flags[@]}" -O "$examples/rust/main.rs" -o "rust-$number"
    check "rust-$number-runs" trains "$bytes" "./rust-$number"
    check "rust-$number-layout" "$compiler" "${flags[@]}" "$here/Inputs/layout.rs" -o "rust-layout-$number"
    check "rust-$number-layout-runs" layouts "./rust-layout-$number"
  done
  check rust-is-short test "$(wc -l < "$examples/rust/hlo.rs")" -le 150
}

test_go() {
  has_program go || return
  export GO111MODULE=on GOPROXY=off GOFLAGS=-buildvcs=false GOCACHE="$work/go-cache" GODEBUG=cgocheck=2
  export CGO_CFLAGS="-Wall -Werror -I$work -I$ROOT/runtime/abi" CGO_LDFLAGS="-L$work -L$BUILD/lib"
  check go-format test -z "$(gofmt -l "$examples/go")"
  check go-vet in_folder "$examples/go" go vet .
  check go in_folder "$examples/go" go build -o "$work/go-program" .
  check go-runs trains "$bytes" ./go-program
}

in_folder() { (cd "$1" && "${@:2}"); }

test_fortran() {
  has_program gfortran || return
  local flags=(-std=f2018 -Wall -Wextra -Werror -fcheck=all -J "$work") link=(-L. "-L$BUILD/lib" -lregression -lhlo_rt)
  check fortran gfortran "${flags[@]}" -O2 "$examples/fortran/hlo.f90" "$examples/fortran/main.f90" "${link[@]}" -o fortran
  check fortran-runs trains "$bytes" ./fortran
  check fortran-layout gfortran "${flags[@]}" "$examples/fortran/hlo.f90" "$here/Inputs/layout.f90" "${link[@]}" -o fortran-layout
  check fortran-layout-runs layouts ./fortran-layout
}

test_java() {
  has_program javac || return
  local home
  home="$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")"
  check java-native cc -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC "-I$home/include" "-I$home/include/linux" \
    -I"$ROOT/runtime/abi" "$examples/java/hlo_jni.c" -o libhlo_jni.so -L"$BUILD/lib" -lhlo_rt
  check java javac --release 11 -Xlint:all -Werror -d classes "$examples/java/Model.java" "$examples/java/Main.java"
  check java-runs trains "$bytes" "$home/bin/java" -Xcheck:jni -Djava.library.path=. -cp classes Main ./libregression.so
}

# All at once, or those that can be had. Debian's Rust too if there is another one.
(install_packages "${LANGUAGE_PACKAGES[@]}") ||
  for package in "${LANGUAGE_PACKAGES[@]}"; do (install_packages "$package"); done
languages=("$@")
[ ${#languages[@]} != 0 ] || languages=(cxx rust go fortran java)
for language in "${languages[@]}"; do
  declare -F "test_$language" > /dev/null || { echo "error: no language is named $language" >&2; exit 2; }
  "test_$language"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
