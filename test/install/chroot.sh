#!/usr/bin/env bash
# Installs the Debian packages in a Debian that has nothing else, and uses them there: a C program with cc, with pkg-config and
# with CMake, the compiler as a library, hlo-run. The last line reads 'N passed, N failed'. Skipped with a message if there is no
# mmdebstrap, or namespaces are forbidden. By hand: it takes several minutes, most of them for packages of Debian.
#   test/install/chroot.sh [BUILD]        the packages of BUILD/packages, made if there are none
set -uo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
build="${1:-$root/build}"
skip() { printf 'skipped chroot: %s\n0 passed, 0 failed\n' "$1"; exit 0; }
die() { printf 'error: %s\n0 passed, 1 failed\n' "$1"; exit 1; }

command -v mmdebstrap > /dev/null || skip "there is no mmdebstrap"
unshare --user --map-root-user --mount true 2> /dev/null || skip "user namespaces are forbidden"
[ -e /etc/apt/sources.list.d/debian.sources ] && sources=/etc/apt/sources.list.d/debian.sources || sources=/etc/apt/sources.list
[ -r "$sources" ] || skip "there is no list of Debian's sources"

shopt -s nullglob
packages=("$build"/packages/*.deb)
if [ ${#packages[@]} = 0 ]; then
  (cd "$build" && cpack -G DEB > packages.log 2>&1) || die "cpack: $(tail -n 3 "$build/packages.log")"
  packages=("$build"/packages/*.deb)
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"
cp "${packages[@]}" "$root/test/install/Inputs/stranger.sh" "$work/in"
cp -r "$root/examples" "$work/in/examples"
chmod -R go+rX "$work"
# Without --variant=important and the like nothing but what apt needs is there; apt installs the packages and what they depend on.
mmdebstrap --mode=unshare --variant=apt --quiet \
  --customize-hook="copy-in $work/in /" \
  --customize-hook='chroot "$1" sh /in/stranger.sh' \
  bookworm /dev/null "$sources" > "$work/log" 2>&1
status=$?
grep -E '^(ok|failed|time) ' "$work/log"
if [ "$status" != 0 ] || ! grep -q '^ok ' "$work/log"; then tail -n 30 "$work/log"; fi
passed="$(grep -c '^ok ' "$work/log")"
failed="$(grep -c '^failed ' "$work/log")"
[ "$status" = 0 ] || failed=$((failed + 1))
[ "$passed" != 0 ] || failed=$((failed + 1))
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
