#!/bin/sh
# check_symbols.sh ARCHIVE ALLOWED NM: every undefined symbol of the archive is defined in it, or
# listed in ALLOWED; it exports only names that start with hlo_, and the two that handlers of custom calls expect; and its only writable data are one word.
# Only some members use the heap or start threads.
set -u
archive=$1
allowed=$2
nm=${3:-nm}
defined=$("$nm" --defined-only "$archive" 2>/dev/null | awk 'NF == 3 {print $3}' | sort -u)
undefined=$("$nm" --undefined-only "$archive" 2>/dev/null | awk '$1 == "U" {print $2}' | sort -u)
failed=0
for symbol in $undefined; do
  echo "$defined" | grep -qx -- "$symbol" && continue
  grep -qx -- "$symbol" "$allowed" && continue
  echo "FAILED: the runtime refers to '$symbol', which allowed_symbols.txt does not list"
  failed=1
done
for symbol in $("$nm" --defined-only --extern-only "$archive" 2>/dev/null | awk 'NF == 3 {print $3}'); do
  case $symbol in
    hlo_* | XlaCustomCallStatusSetSuccess | XlaCustomCallStatusSetFailure) ;;
    *) echo "FAILED: the runtime exports '$symbol'"; failed=1 ;;
  esac
done
# The heap is for pools, ranks, queues, errors and futures of typed custom calls, and calls of more than 64 arrays without an
# allocator; only the pool and ranks start threads, on request.
users() { # of the functions that the pattern names: members of the archive
  "$nm" -A --undefined-only "$archive" 2>/dev/null | grep -E " U ($1)$" | sed 's/^[^:]*://; s/:.*//' | sort -u
}
for member in $(users 'aligned_alloc|calloc|malloc|realloc|posix_memalign|free'); do
  case $member in
    pool.c.o | threads.c.o | queue.c.o | ffi_error.c.o | views.c.o | custom_call.c.o) ;;
    *) echo "FAILED: $member uses the heap"; failed=1 ;;
  esac
done
for member in $(users pthread_create); do
  case $member in
    pool.c.o | threads.c.o) ;;
    *) echo "FAILED: $member starts threads"; failed=1 ;;
  esac
done
# Tables of pointers are in .data.rel.ro: read-only once the program is linked.
writable=$("$nm" --format=sysv --defined-only "$archive" 2>/dev/null | tr -d ' ' |
  awk -F'|' '$7 ~ /^\.t?(data|bss)/ && $7 !~ /^\.data\.rel\.ro/ {print $1}' | grep -v '^detected$')
if [ -n "$writable" ]; then
  echo "FAILED: writable static data: $writable"
  failed=1
fi
[ -n "$undefined" ] && [ "$failed" -eq 0 ]
