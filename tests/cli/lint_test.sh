#!/bin/bash
# Rules that never match, and what else is wrong with a ruleset.
. "$(dirname "$0")/lib.sh"
need_netns

cat >a.nft <<'END'
# two shadowed rules, one without effect, one that excludes itself
table inet filter {
  set nobody { type ipv4_addr; }
  set idle { type ipv4_addr; elements = { 10.0.0.1 }; }
  chain forgotten {
    tcp dport 99 drop
  }
  chain forward {
    type filter hook forward priority 0; policy drop;
    ct state invalid drop
    ct state established,related accept
    tcp dport 22 accept comment "ssh"
    ip saddr 10.0.0.0/8 tcp dport 22 drop
    ip saddr 10.1.2.3/8 ip saddr 192.168.0.1 accept
    ip saddr 10.1.0.5 udp dport 53 accept
    udp dport 53 accept
    ip saddr @nobody accept
    oifname "eth9" tcp dport 80 accept
    udp sport 123 counter accept
  }
}
END
expect 1 lint a.nft
silent
said 'a.nft:13: inet filter forward, rule 4: error: it never matches: rule 3 "ssh" before it takes all its packets, and it decides otherwise [shadowed]'
said 'a.nft:14: inet filter forward, rule 5: warning: no packet meets all its conditions: they exclude each other [never-matches]'
said '[no-effect]'
grep -n ' error: ' out | tail -1 | cut -d: -f1 >last_error
grep -n ' warning: ' out | head -1 | cut -d: -f1 >first_warning
[ "$(cat last_error)" -lt "$(cat first_warning)" ] || fail "errors do not come first"
said 'a.nft:15: inet filter forward, rule 6'
said 'set nobody is empty'
said 'set inet filter idle: note: no rule asks it [unused-set]'
said 'inet filter forgotten: warning: no rule leads here'
said 'a.nft:14: `10.1.2.3/8`'
said '[source-port-opens]'
said 'the input hook: warning: no filter chain is there'
said 'exit 1: findings'
if grep -q 'unknown-interface' out; then fail 'nobody said which interfaces there are'; fi
expect 1 lint a.nft --ignore no-effect,nosuchcode
! grep -q 'warning: .*no-effect' out || fail "--ignore"
said 'ignored: 0 findings [nosuchcode]'
expect 1 lint a.nft --site "$sites/two-tenants" --enforcer fw --as-of 2026-12-01 -q
said 'there is no interface eth9 among the legs of fw'
expect 1 lint a.nft --format json
said '"schema": "bulkhead.lint/1"'
said '"code": "shadowed"'
said '"line": 13'
expect 1 lint a.nft --format junit
said 'failure type="shadowed"'

# What we write ourselves has nothing to mend.
# What bulkhead writes has nothing to find in it, also where a policy serves one family alone.
for site in two-tenants gpu-pod; do
  expect 0 lint "site:$sites/$site" --as-of 2026-12-01
  said '0 errors, 0 warnings, 0 notes'
done
expect 0 lint "site:$sites/two-tenants" --as-of 2026-12-01 -q
said 'nothing to mend'

cat >open.nft <<'END'
table ip filter {
  chain forward {
    type filter hook forward priority 0; policy accept;
    tcp dport 22 drop
  }
  chain late {
    type filter hook forward priority 0; policy accept;
    meta mark set 1
  }
}
END
expect 1 lint open.nft
said '[fails-open]'
said 'no filter chain meets IPv6 packets there: all of them pass [family-forgotten]'

# A half of a flow, neighbours that are not heard, a family that is closed.
cat >half.nft <<'END'
table inet t {
  chain f {
    type filter hook forward priority 0; policy drop;
    ip daddr 10.2.0.2 tcp dport 80 accept
  }
  chain i {
    type filter hook input priority 0; policy drop;
    ct state invalid drop
    ct state established accept
    tcp dport 22 accept
  }
}
END
expect 1 lint half.nft
said 'a request passes, and its answer does not'
said '[no-answers]'
said '[neighbour-discovery]'
said 'rules let IPv4 connections pass, and none of IPv6 [family-forgotten]'

# What is not known is not called dead, and a clean ruleset has no findings.
cat >clean.nft <<'END'
table inet t {
  chain f {
    type filter hook forward priority 0; policy drop;
    ct state vmap { invalid : drop, established : accept, related : accept }
    meta l4proto tcp rt classid 7 accept
    tcp dport 80 accept
  }
  chain i {
    type filter hook input priority 0; policy drop;
    ct state vmap { invalid : drop, established : accept, related : accept }
    icmpv6 type { 133-136 } ip6 hoplimit 255 accept
    tcp dport 22 accept
  }
}
END
expect 0 lint clean.nft
said '[outside-model]'
said 'exit 0: nothing to mend'

echo 'table inet x { nonsense }' >broken.nft
expect 2 lint broken.nft
expect 2 lint missing.nft
expect 2 lint a.nft --site "$sites/two-tenants" --enforcer nobody --as-of 2026-12-01 -q
