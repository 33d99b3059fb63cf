#!/bin/bash
# Mistakes: all of them, at their places, exit 2, and nothing written anywhere.
. "$(dirname "$0")/lib.sh"

expect 0 check "$sites/two-tenants" --as-of 2026-12-01
said 'two-tenants: '
said 'no errors'
expect 0 check "$sites/two-tenants" --as-of 2026-12-01 --format json
said '"schema": "bulkhead.check/1"'
said '"errors": 0'

cp -r "$sites/two-tenants" broken
sed -i 's/^vlan = 101/vlan = 101\nvlam = 5/; s,10.2.0.0/24,10.2.0.1/24,' broken/policy.toml
expect 2 check broken
told 'broken/policy.toml:'
told 'vlam'
told '10.2.0.0/24'
told '^'
[ -z "$out" ] || fail "an answer in spite of errors"
expect 2 check broken --format json
said '"severity": "error"'
said '"line":'

# faults.toml is a part of the site.
cp -r "$sites/two-tenants" faulty
sed -i '0,/change = "fw"/s//chnage = "fw"/' faulty/faults.toml
expect 2 check faulty
told 'faulty/faults.toml:'
told 'did you mean `change`?'

expect 2 compile broken --output artifacts
[ ! -e artifacts ] || fail "something was written"
expect 2 matrix broken
expect 2 explain broken --from red --to blue --tcp 22
expect 2 audit broken --on lab
told 'nothing was done'

expect 0 check "$sites/two-tenants" --output verdict.txt
[ -z "$out" ] && grep -q 'no errors' verdict.txt || fail "--output"
expect 3 check "$sites/two-tenants" --output nowhere/verdict.txt
