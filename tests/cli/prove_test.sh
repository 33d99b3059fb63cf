#!/bin/bash
# Rules against the policy for all packets: our own, a file that somebody wrote, and bad input.
. "$(dirname "$0")/lib.sh"
need_netns

# Without root: what is missing is said.
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if nobody unshare -U true 2>/dev/null && nobody test -x "$bulkhead" 2>/dev/null &&
  nobody test -r "$sites/two-tenants/policy.toml" && ! nobody test -w /dev/net/tun; then
  nobody "$bulkhead" prove "$sites/two-tenants" >out 2>err && fail "prove as nobody made interfaces of nothing"
  grep -q 'run this as root, or let this user open /dev/net/tun' err || fail "no hint for nobody"
fi

expect 0 prove "$sites/two-tenants" --as-of 2026-12-01
said 'EQUAL  forward'
said 'EQUAL  input'
said 'exit 0: equal for all packets'
silent
expect 0 prove "$sites/gpu-pod" --as-of 2026-12-01 --format json -o proof.json
grep -q '"schema": "bulkhead.proof/1"' proof.json || fail "no JSON"

expect 0 compile "$sites/two-tenants" --output rules --as-of 2026-12-01 -q
sed 's/tcp dport 2049 counter accept comment "R1"/tcp dport 2050 counter accept comment "R1"/' \
  rules/fw/nftables.nft >edited.nft
expect 1 prove "$sites/two-tenants" --ruleset edited.nft --enforcer fw
said 'OPENS  forward: between tenants'
said 'red → storage: tcp 2050'
said 'CLOSES  forward: between tenants'
said 'red → storage: nfs (tcp 2049)'
# What nft lists is as good as its text.
nft_json() { ip netns exec "$space" nft -j list ruleset; }
space=bh-cli-prove-$$
ip netns add "$space"
trap 'ip netns del "$space" 2>/dev/null || true; rm -rf "$work"' EXIT
ip netns exec "$space" nft -f edited.nft
nft_json >edited.json
expect 1 prove "$sites/two-tenants" --ruleset edited.json --enforcer fw --format json
said '"effect": "opens"'

# No rules at all pass everything.
: >empty.nft
expect 1 prove "$sites/two-tenants" --ruleset empty.nft
said 'OPENS'

# What is not known is not called equal.
cp rules/fw/nftables.nft unknown.nft
echo 'table inet other {
 chain f {
  type filter hook forward priority 5; policy accept;
  rt classid 7 drop
 }
}' >>unknown.nft
expect 4 prove "$sites/two-tenants" --ruleset unknown.nft
said 'UNKNOWN'
said 'by inet other f, rule 1: rt classid 7 drop'
said '% of the forward header space, by the rules of UNKNOWN'

# Nor which interface has a number on the machine that a file is for.
cp rules/fw/nftables.nft number.nft
echo 'table inet other {
 chain f {
  type filter hook forward priority 5; policy accept;
  iif 2 drop
 }
}' >>number.nft
expect 4 prove "$sites/two-tenants" --ruleset number.nft -v
said 'by inet other f, rule 1: iif "2" drop'
said 'only the machine knows that the rules are for'
# A mark that no rule sets is taken as 0, and that is said.
sed 's/iif 2 drop/ct mark 7 drop/' number.nft >mark.nft
expect 4 prove "$sites/two-tenants" --ruleset mark.nft
said 'DOUBT  rules ask for ct mark, which none of them sets'

# A mistake in the text is the user's, with its place.
printf 'table inet x {\n  nonsense\n}\n' >broken.nft
expect 2 prove "$sites/two-tenants" --ruleset broken.nft
told 'broken.nft:2:3-10: Error: syntax error'
# What nft understands and the kernel refuses is not: a chain that jumps to itself.
printf 'table inet x {\n  chain c {\n    jump c\n  }\n}\n' >refused.nft
expect 3 prove "$sites/two-tenants" --ruleset refused.nft
told 'refused.nft:'
head -c 2000 edited.json >cut.json
expect 3 prove "$sites/two-tenants" --ruleset cut.json
expect 2 prove "$sites/two-tenants" --ruleset missing.nft
told 'missing.nft'
expect 2 prove "$sites/two-tenants" --enforcer nobody
told 'known are: fw'
expect 2 prove "$sites/two-tenants" --live --ruleset edited.nft

# ---- --live: what a host has loaded, by ssh; here into a namespace
cat >fake_ssh <<END
#!/bin/sh
while [ "\$1" != -- ]; do shift; done
echo "\$2" >>asked
shift 2
exec ip netns exec $space sh -c "\$*"
END
chmod +x fake_ssh
live() { expect "$1" prove "$sites/two-tenants" --live --ssh ./fake_ssh --as-of 2026-12-01 "${@:2}"; }
live 1
said 'fw  live fw'
said 'red → storage: tcp 2050'
[ "$(sort -u asked)" = fw ] || fail "asked others than the enforcer: $(sort -u asked)"
ip netns exec "$space" nft -f rules/fw/nftables.nft
before=$(nft_json)
live 0 --enforcer fw
said 'EQUAL  forward'
[ "$before" = "$(nft_json)" ] || fail "the host's rules were changed"
live 0 --format json
said '"listing_alone": true'
# No rules are rules that pass everything; no listing is no answer.
ip netns exec "$space" nft flush ruleset
live 1
said 'OPENS'
expect 3 prove "$sites/two-tenants" --live --ssh false
told 'list the rules of fw'
expect 3 prove "$sites/two-tenants" --live --ssh true
told 'not complete'

# Rulesets as people write them: what they read. BULKHEAD_UPDATE_GOLDEN=1 writes it anew.
cp -r "$sites/two-tenants" "$sites/gpu-pod" .
for site in two-tenants gpu-pod; do
  golden=$source_tree/tests/golden/prove/$site.txt
  cp "$source_tree/tests/golden/prove/$site.nft" .
  expect 1 prove "$site" --ruleset "$site.nft" --as-of 2026-12-01
  if [ "${BULKHEAD_UPDATE_GOLDEN:-}" = 1 ]; then
    cp out "$golden"
  fi
  diff -u "$golden" out >&2 || fail "$golden is not what is printed; if that is right, BULKHEAD_UPDATE_GOLDEN=1"
  [ "$(wc -l <out)" -lt 300 ] || fail "a wall of $(wc -l <out) lines"
  silent
done
# Every format says the same findings.
expect 1 prove gpu-pod --ruleset gpu-pod.nft --as-of 2026-12-01 --format json
findings=$(grep -c '"subject":' out)
expect 1 prove gpu-pod --ruleset gpu-pod.nft --as-of 2026-12-01 --format junit
[ "$(grep -c '<failure type=' out)" = "$findings" ] || fail "junit has not the $findings findings of json"
said 'crosses never N1 (gpu-pod/policy.toml:'
expect 1 prove gpu-pod --ruleset gpu-pod.nft --as-of 2026-12-01 -v
said 'cannot be sent as a probe: it begins no connection'
said 'cannot be sent as a probe: no agent has the source address'

# Translated connections are set aside, and that is said.
cp rules/fw/nftables.nft nat.nft
echo 'table ip nat {
 chain pre {
  type nat hook prerouting priority dstnat; policy accept;
  iifname "bond0.101" ip daddr 10.9.9.9 tcp dport 2049 dnat to 10.3.0.11
 }
}' >>nat.nft
expect 0 prove two-tenants --ruleset nat.nft
said 'Not compared are later packets of translated connections'

# A counterexample is sent, and arrives.
run=prv$$
sed 's/tcp dport 2049 counter accept comment "R1"/tcp dport 2050 counter accept comment "R1"/' \
  rules/fw/nftables.nft >edited.nft
expect 1 prove two-tenants --ruleset edited.nft --as-of 2026-12-01 --probes found.json
told 'found.json: '
grep -q '"schema":"bulkhead.probe/2"' found.json || fail "no plan"
expect 0 lab up two-tenants --run "$run"
trap '"$bulkhead" lab down two-tenants --run "$run" -q 2>/dev/null || true; ip netns del "$space" 2>/dev/null || true
  rm -rf "$work"' EXIT
expect 0 lab exec two-tenants fw --run "$run" -- nft -f "$work/edited.nft"
expect 1 probe two-tenants --on lab --run "$run" --plan found.json --evidence sent.jsonl
said 'LEAK'
said 'tcp 2050'
# Mended, the same plan is as intended: what it does not name is not missing.
expect 0 lab exec two-tenants fw --run "$run" -- nft -f "$work/rules/fw/nftables.nft"
expect 0 probe two-tenants --on lab --run "$run" --plan found.json
said 'coverage  100.0 %'
expect 2 probe two-tenants --on lab --run "$run" --plan edited.nft
told 'edited.nft'
expect 0 lab down two-tenants --run "$run"
