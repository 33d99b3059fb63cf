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
