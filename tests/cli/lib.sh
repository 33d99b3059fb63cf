# Sourced by each *_test.sh, which CTest calls with the program and the source tree.
#
#   expect CODE ARG...     runs bulkhead; its exit code must be CODE; leaves $out and $err
#   said TEXT, told TEXT   $out, $err hold TEXT (a fixed string)
#
# The first expectation that is not met ends the test with what was there instead.
# shellcheck shell=bash disable=SC2034  # $sites is the caller's
set -euo pipefail

bulkhead=$1
source_tree=$2
sites=$source_tree/scenarios
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  echo "--- stdout" >&2 && cat "$work/out" >&2
  echo "--- stderr" >&2 && cat "$work/err" >&2
  exit 1
}

expect() {
  local want=$1 got=0
  shift
  last="bulkhead $*"
  "$bulkhead" "$@" >"$work/out" 2>"$work/err" || got=$?
  out=$(cat "$work/out")
  err=$(cat "$work/err")
  [ "$got" = "$want" ] || fail "\`$last\` exited $got, not $want"
}
said() { grep -qF -- "$1" "$work/out" || fail "\`$last\` did not print: $1"; }
told() { grep -qF -- "$1" "$work/err" || fail "\`$last\` did not say on stderr: $1"; }
silent() { [ ! -s "$work/err" ] || fail "\`$last\` wrote to stderr"; }

# Tests that build labs: skipped where no namespace can be made.
need_netns() {
  local probe="bh-cli-probe-$$"
  if [ "$(id -u)" != 0 ] || ! ip netns add "$probe" 2>/dev/null; then
    echo "SKIPPED: needs root and network namespaces"
    exit 77
  fi
  ip netns del "$probe"
}
