#!/usr/bin/env bash
# Installs the packages that a fresh Debian machine lacks, configures and builds. Sourced by demo.sh and
# test.sh, which share these functions; prints nothing about packages that are already installed.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
BUILD="${HLO_BUILD:-$ROOT/build}"
export DEBIAN_FRONTEND=noninteractive

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo > /dev/null; then sudo "$@"
  else die "packages are missing and this is neither root nor has sudo: $*"
  fi
}

# install_packages NAME...: apt-get install of those that are not installed.
install_packages() {
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2> /dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  local log; log="$(mktemp)"
  { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    > "$log" 2>&1 || { tail -n 30 "$log" >&2; die "apt-get failed"; }
  rm -f "$log"
}

BUILD_PACKAGES=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 clang-format-22 libclang-rt-22-dev lld-22
                libgtest-dev libabsl-dev zlib1g-dev libzstd-dev liblapack-dev libblas-dev libopenmpi-dev openmpi-bin libtbb-dev libomp-22-dev
                gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
                gcc-riscv64-linux-gnu g++-riscv64-linux-gnu libc6-dev-riscv64-cross qemu-user musl-tools
                ninja-build ccache cmake make pkg-config dpkg-dev gcc g++ libc6-dev python3 libllvm14)

# Compilers for examples/languages: 700 MB that nothing else needs. test/languages installs them.
LANGUAGE_PACKAGES=(rustc golang-go gfortran default-jdk-headless)

# build TARGET...: configures once, then builds with progress on a terminal.
build() {
  install_packages "${BUILD_PACKAGES[@]}"
  cd "$ROOT"
  local log="$BUILD/setup.log"
  mkdir -p "$BUILD"
  if [ ! -f "$BUILD/build.ninja" ]; then
    say "configuring"
    cmake --preset dev > "$log" 2>&1 || { tail -n 30 "$log" >&2; die "cmake failed"; }
  fi
  say "building $* (log: build/setup.log)"
  local start=$SECONDS
  if [ -t 2 ]; then
    NINJA_STATUS='[%f/%t %es] ' ninja -C "$BUILD" "$@" | tee -a "$log" >&2 || die "the build failed"
  else
    ninja -C "$BUILD" "$@" >> "$log" 2>&1 || { grep -A 10 -E 'error|FAILED' "$log" | tail -n 60 >&2; die "the build failed"; }
  fi
  say "built in $((SECONDS - start)) s"
}

# python_with PACKAGE...: sets PYTHON to an interpreter that has them, from a virtual environment in build/.
python_with() {
  PYTHON="$BUILD/venv/bin/python"
  if [ ! -x "$PYTHON" ]; then
    python3 -c 'import venv, ensurepip' 2> /dev/null || install_packages python3 python3-venv
    python3 -m venv "$BUILD/venv" || die "no Python virtual environment"
  fi
  local name missing=()
  for name in "$@"; do
    "$PYTHON" -c "import importlib.metadata as m, sys; n, _, v = sys.argv[1].partition('=='); sys.exit(v not in ('', m.version(n)))" \
      "$name" 2> /dev/null || missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] || { say "installing ${missing[*]} into build/venv"
    "$PYTHON" -m pip install -q --disable-pip-version-check "${missing[@]}" || die "pip failed"; }
}
