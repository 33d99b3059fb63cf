#!/bin/bash
# SIGINT and SIGTERM in the middle: everything is taken down, 130 and 143.
. "$(dirname "$0")/lib.sh"
need_netns

interrupted_by() {
  local signal=$1 want=$2 run=sig$2 got=0
  "$bulkhead" audit "$sites/two-tenants" --on lab --run "$run" >out 2>err &
  local pid=$!
  for _ in $(seq 200); do
    ip netns list 2>/dev/null | grep -q "^bh-two-tenants-$run" && break
    sleep 0.05
  done
  sleep 0.5
  kill -"$signal" "$pid"
  wait "$pid" || got=$?
  last="audit, SIG$signal"
  [ "$got" = "$want" ] || fail "exited $got, not $want"
  ! ip netns list 2>/dev/null | grep -q "^bh-two-tenants-$run" || fail "namespaces left behind"
}
interrupted_by TERM 143
interrupted_by INT 130

# libnftables reads this for ever; nobody has to wait for it, and nothing of it is left.
echo 'include "/dev/zero"' >zero.nft
reading_ends_by() {
  local signal=$1 want=$2 got=0
  "$bulkhead" query "$work/zero.nft" --tcp 22 >out 2>err &
  local pid=$!
  sleep 1
  kill -"$signal" "$pid"
  wait "$pid" || got=$?
  last="query, SIG$signal"
  [ "$got" = "$want" ] || fail "exited $got, not $want"
  for _ in $(seq 40); do
    pgrep -f "query $work/zero.nft" >/dev/null || return 0
    sleep 0.1
  done
  fail "a child still reads"
}
reading_ends_by TERM 143
reading_ends_by INT 130
reading_ends_by KILL 137
