#!/usr/bin/env bash
# Tests of the Python package, on the build folder's libraries. The last line reads 'N passed, N failed'.
#   test/python/run.sh [PATTERN...]    e.g. test_jit, or test_call.Threads
# HLO_BUILD names another build folder. PYTHON names the interpreter: by default that of build/venv, which has JAX.
set -uo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
build="${HLO_BUILD:-$root/build}"
python="${PYTHON:-$build/venv/bin/python}"
[ -x "$python" ] || python=python3
unset HLO_COMPILE_CACHE
export HLO_COMPILE_BUILD="$build" PYTHONPATH="$root/python:$root/test/python" PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu
exec "$python" "$root/test/python/run.py" "$@"
