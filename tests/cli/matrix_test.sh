#!/bin/bash
# The square, its JSON, and the way to a spreadsheet and back.
. "$(dirname "$0")/lib.sh"

expect 0 matrix "$sites/two-tenants" --as-of 2026-12-01
said 'from ↓  to →'
said 'named services only'
! grep -q $'\033' out || fail "colour without a terminal"
expect 0 matrix "$sites/two-tenants" --color always
grep -q $'\033\[' out || fail "no colour though asked"
NO_COLOR=1 expect 0 matrix "$sites/two-tenants" --color auto
expect 0 matrix "$sites/two-tenants" -v
said 'red → storage: '

expect 0 matrix "$sites/two-tenants" --format json
said '"schema":"bulkhead.matrix/1"'
said '"cause":"rule"'

expect 0 matrix "$sites/two-tenants" --format csv --output flows.csv
expect 0 import csv flows.csv --format csv --output again.csv
cmp flows.csv again.csv || fail "the round trip changed the flows"
expect 0 import csv flows.csv
said '[[flow]]'

printf 'id,from,to,services\nF1,red\n' >ragged.csv
expect 2 import csv ragged.csv
told 'ragged.csv:2'
[ -z "$out" ] || fail "an answer in spite of errors"
expect 2 import csv nosuch.csv
