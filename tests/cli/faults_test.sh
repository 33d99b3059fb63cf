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
# No probe asks for this port; the proof sees it, and may be asked to. A table without chains changes nothing.
cp -r "$sites/two-tenants" quiet
cat >quiet/faults.toml <<'END'
[[fault]]
id = "unasked"
from = "red"
to = "blue"
proof = "different"
steps = [{ run = "fw", command = ["nft", "insert", "rule", "inet", "bulkhead", "forward", "tcp dport 3306 accept"] }]
[[fault]]
id = "nothing"
from = "red"
to = "blue"
expect = "Leak"
steps = [{ load = "fw", text = "table ip nothing { }" }]
END
expect 1 faults quiet
said 'caught  unasked'
said 'the proof noticed it'
said 'no probe did'
said 'MISSED  nothing'
said 'not nothing: equal for all packets'
expect 0 faults "$sites/two-tenants" --include "$first" --format json
said '"schema": "bulkhead.faults/1"'
said '"caught": 1'
