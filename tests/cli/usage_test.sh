#!/bin/bash
# Bad usage: exit 2, one sentence with a hint on stderr, nothing on stdout.
. "$(dirname "$0")/lib.sh"

bad() {
  local hint=$1
  shift
  expect 2 "$@"
  told "$hint"
  [ -z "$out" ] || fail "bad usage printed an answer"
}

bad 'see `bulkhead --help`'
bad 'did you mean `check`?' chek "$sites/two-tenants"
bad 'did you mean `--as-of`?' check "$sites/two-tenants" --as-off 2026-12-01
bad '`check` takes: SITE' check
bad 'there is text, json' check "$sites/two-tenants" --format junit
bad 'say where: --on lab' audit "$sites/two-tenants"
bad 'wants --output DIR' compile "$sites/two-tenants"
bad '--from and --to' explain "$sites/two-tenants" --tcp 22
bad 'which traffic' explain "$sites/two-tenants" --from red --to blue
bad 'did you mean `blue`?' explain "$sites/two-tenants" --from red --to blu --tcp 22
bad '--run NAME' probe "$sites/two-tenants" --on lab
bad 'nosuch' check nosuch
bad 'takes: SITE HOST' lab exec "$sites/two-tenants"
