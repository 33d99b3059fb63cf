#!/bin/bash
# A deliberate break is noticed, and told; which one can be chosen.
. "$(dirname "$0")/lib.sh"

expect 2 faults "$sites/two-tenants" --include nosuch
told 'no fault of this name'
cp -r "$sites/two-tenants" site && rm site/faults.toml
expect 2 faults site

need_netns
first=$(sed -n 's/^id = "\(.*\)"/\1/p' "$sites/two-tenants/faults.toml" | head -1)
expect 0 faults "$sites/two-tenants" --include "$first"
said "caught  $first"
said 'caught/injected 1/1'
said 'the proof noticed 1/1 of those that change rules'
expect 0 faults "$sites/two-tenants" --include "$first" --format json
said '"schema": "bulkhead.faults/1"'
said '"caught": 1'
