# The functions of tools/test.sh, which sources this file: they run suites one after another and decide whether a suite passed.
# test/selftest shows the result of each way to break a suite.
#
#   suites_begin FOLDER [--only=NAME,...] [--list] [--no-build]   logs go to FOLDER, which is emptied; NAME may be a pattern (unit-*)
#   suite [OPTION...] NAME COMMAND...                runs COMMAND; its log is FOLDER/NAME.log
#   skip_suite NAME REASON                           a suite that cannot run here
#   suites_end                                       lists what was skipped; the last line reads 'N passed, N failed'
#
# A suite's last line must read 'N passed, N failed'. One failure is added if that line is absent, if it says 0 passed and 0 failed,
# if it reports no failure but the exit status is not 0, or if the suite takes longer than its limit. A line 'skipped NAME: REASON'
# of its log is shown at the end. Options:
#   --limit=SECONDS   300 without it
#   --status          the exit status is the result: one test; the command's last line is printed, and must not be empty

suites_begin() {
  suite_results="$1" suite_only="" suite_list="" suite_no_build="" suites_seen=() suites_skipped=()
  suites_passed=0 suites_failed=0 suites_ended="" suite_process=""
  shift
  local argument
  for argument in "$@"; do
    case "$argument" in
      --only=*) suite_only="${argument#*=}" ;;
      --list) suite_list=1 ;;
      --no-build) suite_no_build=1 ;;
      *) printf 'error: unknown argument: %s; there are --only=SUITE,..., --list and --no-build\n' "$argument" >&2; exit 2 ;;
    esac
  done
  [ -n "$suite_list" ] || { rm -rf "$suite_results" && mkdir -p "$suite_results"; } || exit 1
  trap suites_exit EXIT
  trap 'suites_interrupt INT' INT
  trap 'suites_interrupt TERM' TERM
}

# A script that ends before suites_end has failed, whatever its exit status.
suites_exit() {
  local status=$?
  [ -z "$suites_ended" ] || exit "$status"
  printf 'error: the tests ended before their end (exit status %d)\n' "$status"
  printf '%d passed, %d failed\n' "$suites_passed" $((suites_failed + 1))
  exit 1
}

suites_interrupt() {
  [ -z "$suite_process" ] || { kill -TERM "$suite_process" && wait "$suite_process"; } 2> /dev/null
  exit 130
}

# suite_selected NAME: whether --only names the suite, or there is no --only.
suite_selected() {
  suites_seen+=("$1")
  local pattern patterns
  IFS=, read -r -a patterns <<< "$suite_only"
  [ -n "$suite_only" ] || return 0
  for pattern in "${patterns[@]}"; do
    # shellcheck disable=SC2053  # a pattern
    [[ "$1" == $pattern ]] && return 0
  done
  return 1
}

suite() {
  local limit=300 by_status="" name log status summary last passed=0 failed=0 why="" start
  while [[ "${1:-}" == --* ]]; do
    case "$1" in
      --limit=*) limit="${1#*=}" ;;
      --status) by_status=1 ;;
      *) printf 'error: suite: unknown option %s\n' "$1" >&2; exit 2 ;;
    esac
    shift
  done
  name="$1"
  shift
  if [ -n "$suite_list" ]; then printf '%s: %s\n' "$name" "$*"; suites_seen+=("$name"); return 0; fi
  suite_selected "$name" || return 0
  log="$suite_results/$name.log"
  start=$SECONDS
  # timeout puts the command and its children in a process group of their own, and ends all of them.
  timeout --kill-after=10 "$limit" "$@" > "$log" 2>&1 < /dev/null &
  suite_process=$!
  wait "$suite_process"
  status=$?
  suite_process=""
  last="$(grep -v '^[[:space:]]*$' "$log" | tail -n 1)"
  if [ -n "$by_status" ]; then
    if [ "$status" != 0 ]; then why="exit status $status"
    elif [ -z "$last" ]; then why="printed nothing"
    else passed=1
    fi
  else
    summary="$(grep -xE '[0-9]+ passed, [0-9]+ failed' <<< "$last")"
    if [ -z "$summary" ]; then
      why="gave no result (exit status $status)"
    else
      read -r passed _ failed _ <<< "$summary"
      if [ $((passed + failed)) = 0 ]; then why="ran nothing"
      elif [ "$failed" = 0 ] && [ "$status" != 0 ]; then why="reported no failure, but its exit status is $status"
      fi
    fi
  fi
  if [ "$status" = 124 ] || { [ "$status" = 137 ] && [ $((SECONDS - start)) -ge "$limit" ]; }; then
    why="took longer than $limit s"
  fi
  [ -z "$why" ] || failed=$((failed + 1))
  while IFS= read -r summary; do suites_skipped+=("$name: ${summary#skipped }"); done < <(grep '^skipped ' "$log")
  printf '%-24s %6d passed, %d failed %6d s%s\n' "$name" "$passed" "$failed" $((SECONDS - start)) "${why:+   $name $why}"
  if [ "$failed" != 0 ]; then tail -n 60 "$log" | cut -c 1-300
  elif [ -n "$by_status" ]; then printf '  %s\n' "$last"
  fi
  suites_passed=$((suites_passed + passed)) suites_failed=$((suites_failed + failed))
  return 0
}

skip_suite() {
  if [ -n "$suite_list" ]; then printf '%s: skipped: %s\n' "$1" "$2"; suites_seen+=("$1"); return 0; fi
  suite_selected "$1" || return 0
  suites_skipped+=("$1: $2")
  printf '%-24s skipped\n' "$1"
}

suites_end() {
  local pattern patterns name found line
  suites_ended=1
  [ -z "$suite_list" ] || exit 0
  IFS=, read -r -a patterns <<< "$suite_only"
  for pattern in "${patterns[@]}"; do
    found=""
    # shellcheck disable=SC2053
    for name in "${suites_seen[@]}"; do [[ "$name" == $pattern ]] && found=1; done
    [ -n "$found" ] || { printf 'error: no suite is named %s\n' "$pattern"; suites_failed=$((suites_failed + 1)); }
  done
  if [ ${#suites_skipped[@]} != 0 ]; then
    printf 'skipped:\n'
    for line in "${suites_skipped[@]}"; do printf '  %s\n' "$line"; done
  fi
  if [ $((suites_passed + suites_failed)) = 0 ]; then
    printf 'error: nothing was run\n'
    suites_failed=1
  fi
  printf '%d passed, %d failed\n' "$suites_passed" "$suites_failed"
  [ "$suites_failed" = 0 ]
  exit
}
