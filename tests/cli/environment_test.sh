#!/bin/bash
# What the machine lacks: exit 3 and one sentence that says what to do.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" = 0 ]; then
  # As nobody, from a copy that nobody may read: the build tree may be under a closed folder.
  cp "$bulkhead" "$work/bulkhead" && cp -r "$sites/two-tenants" "$work/site" && chmod -R a+rX "$work"
  as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$work/bulkhead" "$@"; }
else
  cp -r "$sites/two-tenants" "$work/site"
  as_nobody() { "$bulkhead" "$@"; }
fi
got=0
as_nobody audit "$work/site" --on lab >out 2>err || got=$?
last="audit without root"
[ "$got" = 3 ] || fail "exited $got, not 3"
told 'root'
[ "$(wc -l <err)" = 1 ] || fail "more than one sentence"

[ "$(id -u)" = 0 ] || exit 0
# A lab that cannot be taken down is not said to be.
expect 0 lab up "$work/site" --run envtest -q
got=0
as_nobody lab down "$work/site" --run envtest >out 2>err || got=$?
expect 0 lab down "$work/site" --run envtest
[ "$got" = 3 ] || fail "lab down as nobody exited $got, not 3"
mkdir empty
got=0
PATH=$work/empty "$bulkhead" audit site --on lab >out 2>err || got=$?
last="audit without tools"
[ "$got" = 3 ] || fail "exited $got, not 3"
told 'install'
