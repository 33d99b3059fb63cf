#!/bin/bash
# The whole line on the smallest scenario, every format, and nothing left behind.
. "$(dirname "$0")/lib.sh"
need_netns

netns_of() { ip netns list | grep -c "^bh-two-tenants-$1" || true; }
run=cli$$
before=$(nft list ruleset | sha256sum)

expect 0 audit "$sites/two-tenants" --on lab --run "$run" --format json --output report.json \
  --evidence evidence.jsonl
[ -z "$out" ] || fail "an answer on stdout beside --output"
for what in '"schema": "bulkhead.report/1"' '"made": "lab"' '"exit": 0' '"Leak": 0'; do
  grep -qF "$what" report.json || fail "report.json lacks $what"
done
grep -q '"schema":"bulkhead.evidence/1"' evidence.jsonl || fail "no evidence"
mkdir disk
(ulimit -f 16 && expect 3 audit "$sites/two-tenants" --on lab --run "$run" --evidence disk/evidence.jsonl)
told 'evidence.jsonl: File too large'
[ -z "$(ls -A disk)" ] || fail "half an evidence left: $(ls -A disk)"
[ "$(netns_of "$run")" = 0 ] || fail "namespaces left behind"

expect 0 audit "$sites/two-tenants" --on lab --include red --color never
head -1 out | grep -q ' LAB  two-tenants' || fail "the first line does not say lab"
said 'Not the whole site: only red.'
said 'of what was asked: only red'
said 'exit 0: as intended (asked was only red)'

# Too little asked for.
expect 4 audit "$sites/two-tenants" --on lab --include tcp --exclude tcp --min-coverage 0
said 'nothing was probed'
expect 2 audit "$sites/two-tenants" --on lab --include nosuchtag
# Time that is up before the first round, and in the middle of one.
expect 4 audit "$sites/gpu-pod" --on lab --timeout 1 -q
! grep -q 'the ruleset changed' out || fail "the deadline is told as a change of rules"
cp -r "$sites/two-tenants" slow
printf '[probe]\nmax_pps = 20\n' >>slow/inventory.toml
SECONDS=0
expect 4 audit slow --on lab --timeout 4 --run "$run"
said 'time was up'
said ': timed out'
! grep -q 'the ruleset changed' out || fail "the deadline is told as a change of rules"
! grep -q 'coverage  100' out || fail "what was not tried counts as covered"
[ "$SECONDS" -lt 15 ] || fail "it went on for $SECONDS s"
[ "$(netns_of "$run")" = 0 ] || fail "namespaces left behind"

# A lab that stays: probed as it stands, broken, and probed again.
# A full disk cut the record of an earlier try: it stands for nothing.
mkdir -p /run/bulkhead && : >"/run/bulkhead/bh-two-tenants-$run.json"
expect 0 lab up "$sites/two-tenants" --run "$run"
said "run $run"
trap '"$bulkhead" lab down "$sites/two-tenants" --run "$run" -q 2>/dev/null || true; rm -rf "$work"' EXIT
expect 0 probe "$sites/two-tenants" --on lab --run "$run" --include red
expect 0 lab exec "$sites/two-tenants" red1 --run "$run" -- ip -o address
said '10.1.0.11/24'
expect 127 lab exec "$sites/two-tenants" red1 --run "$run" -- nosuchprogram
told 'nosuchprogram'
expect 126 lab exec "$sites/two-tenants" red1 --run "$run" -- /etc/passwd
expect 0 lab list
said "two-tenants  --run $run"
expect 2 lab down "$sites/two-tenants"
told "there is --run"
expect 3 lab down "$sites/two-tenants" --run nosuchrun
told "$run"
expect 7 lab exec "$sites/two-tenants" red1 --run "$run" -- sh -c 'exit 7'
expect 0 lab exec "$sites/two-tenants" fw --run "$run" -- nft flush table inet bulkhead
expect 0 lab exec "$sites/two-tenants" fw --run "$run" -- nft delete table inet bulkhead
expect 1 probe "$sites/two-tenants" --on lab --run "$run" --include red --format junit
said '<failure type="Leak"'
expect 0 lab down "$sites/two-tenants" --run "$run"
[ "$(netns_of "$run")" = 0 ] || fail "namespaces left behind"
expect 3 lab down "$sites/two-tenants" --run "$run"

[ "$before" = "$(nft list ruleset | sha256sum)" ] || fail "the machine's own ruleset changed"
