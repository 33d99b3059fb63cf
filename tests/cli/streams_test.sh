#!/bin/bash
# Where the answer and the story go, and what becomes of them where they cannot be written.
. "$(dirname "$0")/lib.sh"

site=$sites/two-tenants
code() {
  local want=$1 got=0
  shift
  "$@" || got=$?
  last=$*
  [ "$got" = "$want" ] || fail "\`$*\` exited $got, not $want"
}
mute() { "$bulkhead" "$@" 2>/dev/full; }
deaf() { "$bulkhead" "$@" <&- >&- 2>&-; }
full() { "$bulkhead" "$@" >/dev/full 2>err; }
: >out
code 2 mute check /nonexistent
code 0 mute check "$site" --output verdict.txt
code 2 deaf check /nonexistent
code 3 deaf check "$site"
code 3 full check "$site"
code 3 full --help

# `-` is stdout; a file keeps its mode, a link stays one.
expect 0 check "$site" --output -
said 'no errors'
[ ! -e ./- ] || fail "a file called -"
: >secret && chmod 600 secret && ln -s secret link && ln -s new dangling
expect 0 check "$site" --output link
expect 0 check "$site" --output dangling
[ -L link ] && [ -L dangling ] && grep -q 'no errors' secret && grep -q 'no errors' new || fail "a link was replaced"
[ "$(stat -c %a secret)" = 600 ] || fail "the mode was changed to $(stat -c %a secret)"

expect 2 audit "$site" --on lab --output both --evidence ./both
told 'the same file'
expect 2 audit "$site" --on lab --include read
told 'did you mean `red`?'

# Little of the stack is needed.
(ulimit -s 96 && exec "$bulkhead" check "$site" >out 2>err) || fail "no answer with a small stack"

# Mistakes without end: the first are shown, all are counted, and the time grows with the number.
cp -r "$site" many
chmod -R u+w many
{
  printf 'hosts = "hosts.csv"\n'
  cat "$site/inventory.toml"
} >many/inventory.toml
{
  echo host,nic,segment
  seq -f 'h%.0f,e0,red' 20000
} >many/hosts.csv
expect 2 check many
[ "$(grep -c ' error: ' err)" = 200 ] || fail "$(grep -c ' error: ' err) errors shown"
told '19800 more'
told '20000 errors'

printf '\377\200name' >many/policy.toml
expect 2 check many
told '?'
LC_ALL=C grep -q $'\377' err && fail "raw bytes of the file"
expect 2 import csv /nonexistent
! grep -q '//' err || fail "// in a path"
