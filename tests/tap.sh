# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# tap.sh: cases in a shell script, told as TAP.  Sourced.

tap_n=0
tap_failed=0
tap_log=$(mktemp)
trap 'rm -f "$tap_log"' EXIT

# tap_case NAME COMMAND...: one case; what the command prints shows if it
# fails.
tap_case() {
  local name=$1 status=ok
  shift
  tap_n=$((tap_n + 1))
  "$@" > "$tap_log" 2>&1 < /dev/null || status='not ok'
  echo "$status $tap_n - $name"
  if [ "$status" != ok ]; then
    tap_failed=$((tap_failed + 1))
    sed 's/^/# /' "$tap_log"
  fi
}

tap_skip() {
  tap_n=$((tap_n + 1))
  echo "ok $tap_n - $1 # SKIP $2"
}

# tap_wait SECONDS COMMAND...: until it is so, at most so long and what the tries take; what
# the last one says shows.
tap_wait() {
  local tenths=$(($1 * 10))
  shift
  for (( ; tenths > 0; tenths--)); do
    "$@" > /dev/null 2>&1 && return 0
    sleep 0.1
  done
  "$@" >&2 && return 0
  echo "waited for nothing: $*" >&2
  return 1
}

# The last line of a script, whose exit status it is.
tap_end() {
  echo "1..$tap_n"
  [ "$tap_failed" -eq 0 ]
}
