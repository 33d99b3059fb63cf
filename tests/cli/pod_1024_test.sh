#!/bin/bash
# The largest site: made by its generator, always the same bytes; checked, compiled, shown.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || { echo "SKIPPED: python3 is not installed"; exit 77; }
"$sites/pod-1024/generate" pod
"$sites/pod-1024/generate" again
diff -r pod again || fail "two runs of the generator differ"
[ "$(grep -c ',mlx5_' pod/hosts.csv)" = 1024 ] || fail "not 1024 RDMA devices"

expect 0 check pod --as-of 2026-12-01
said 'pod-1024: 73 classes'
said 'no errors, 0 warnings'
said '5 notes (-v shows them)'
silent
expect 0 check pod --as-of 2026-12-01 -v
told '[one-family]'

expect 0 compile pod --output artifacts --as-of 2026-12-01
grep -q 'map bh_legs' artifacts/fw/nftables.nft || fail "no ruleset"
# Some hundred thousand probes, but few that are not alike.
size=$(stat -c %s artifacts/probes.json)
[ "$size" -lt 4000000 ] || fail "probes.json has $size bytes"

expect 0 matrix pod --as-of 2026-12-01
said 'denied: no route'
expect 0 matrix pod --as-of 2026-12-01 --format json
said '"schema":"bulkhead.matrix/1"'
