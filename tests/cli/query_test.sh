#!/bin/bash
# Which packets of a kind pass a ruleset, and by which rules.
. "$(dirname "$0")/lib.sh"
need_netns

cat >a.nft <<'END'
table inet filter {
  set admins {
    type ipv4_addr; flags interval
    elements = { 10.1.0.5, 10.1.9.0/24 }
  }
  chain c_lan {
    tcp dport { 22, 80 } ip saddr @admins counter accept comment "R1"
    udp dport 53 accept
    ip daddr 10.2.0.9 return
    log prefix "x" drop
  }
  chain forward {
    type filter hook forward priority 0; policy drop;
    ct state established,related accept
    ct state invalid drop
    iifname "eth0" jump c_lan
    meta l4proto icmp limit rate 5/second accept
  }
}
table ip nat {
  chain pre {
    type nat hook prerouting priority -100;
    tcp dport 8022 dnat to 10.2.0.2:22
  }
}
END

expect 0 query a.nft --from 10.1.0.5 --to 10.2.0.2 --tcp 22 --in eth0
said 'ALL PASS  forward'
said 'tcp dport { 22, 80 } ip saddr @admins counter accept "R1"'
said '⇒ accept: all of it'
silent
expect 0 query a.nft --from 10.1.0.0/24 --to 10.2.0.2 --tcp 22 --in eth0
said 'SOME PASS  forward'
said 'passes     from 10.1.0.5'
said 'dropped    from 10.1.0.0-10.1.0.4, 10.1.0.6-10.1.0.255'
expect 0 query file:a.nft --from fd01::/64 --tcp 22 --expect block
said 'NONE PASSES'
expect 1 query file:a.nft --from fd01::/64 --tcp 22 --expect pass
expect 1 query a.nft --from 10.1.0.0/24 --to 10.2.0.2 --tcp 22 --in eth0 --expect block

# A published port: what the forward hook sees is the address behind it.
expect 0 query a.nft --from 10.1.0.5 --tcp 8022 --in eth0 --expect pass
said 'tcp dport 8022 dnat to 10.2.0.2:22'
said '"R1": accept'
# What a limit decides is neither.
expect 0 query a.nft --icmp echo --to 10.2.0.9 --in eth0
said 'either     all of it'
said 'a limit or a queue decides'
# Answers of connections, ranges of ports, a hook without chains.
expect 0 query a.nft --from 10.2.0.2 --to 10.1.0.7 --proto tcp --sport 22 --state reply
said 'ALL PASS'
expect 0 query a.nft --from 10.1.0.7 --in eth0 --udp 50-60
said 'passes     to port 53'
expect 0 query a.nft --hook input --tcp 22
said 'ALL PASS  input'

expect 0 query a.nft --from 10.1.0.0/24 --to 10.2.0.2 --tcp 22 --format json
said '"schema": "bulkhead.query/1"'
said '"passes": "some"'
expect 1 query a.nft --tcp 23 --in eth0 --expect pass --format junit
said 'failures="1"'

# Names of a site, and the legs by which its classes come.
expect 0 query "site:$sites/two-tenants" --from red --to storage --tcp 2049 --as-of 2026-12-01 -q
said 'ALL PASS  forward'
said '"R1"'
expect 0 query "$sites/two-tenants" --from red --to blue --tcp 22 --as-of 2026-12-01 -q
said 'NONE PASSES'
expect 0 query a.nft --site "$sites/two-tenants" --enforcer fw --from red --tcp 22 \
  --as-of 2026-12-01 -q
said 'from red'

# What is not known is not answered.
echo 'table inet t {
 chain f {
  type filter hook forward priority 0; policy accept;
  rt classid 7 drop
 }
}' >unknown.nft
expect 4 query unknown.nft --tcp 22
said 'NOT KNOWN'
said 'outside the model: inet t f, rule 1'

expect 2 query a.nft --from red --tcp 22
told 'names need a site'
expect 2 query a.nft --from 10.0.0.1 --to fd00::1
told 'no packet is so'
expect 2 query a.nft --hook postrouting
expect 2 query a.nft --state old
expect 2 query a.nft --tcp 80-22
expect 2 query a.nft --tcp 22 --proto udp
expect 2 query missing.nft --tcp 22
echo 'table inet x { nonsense }' >broken.nft
expect 2 query broken.nft --tcp 22
expect 2 explain "$sites/two-tenants" --from red --to blue --tcp 22-80
told 'wants one port'

# ---- what is sent to the enforcer, or by it, is asked of the hook that it meets
expect 0 query "site:$sites/two-tenants" --as-of 2026-12-01 --enforcer fw --from red \
  --to enforcer:fw --icmp echo
said 'input'
expect 0 query "site:$sites/two-tenants" --as-of 2026-12-01 --enforcer fw --from red --to 10.1.0.1 \
  --icmp echo --expect pass
expect 0 query "site:$sites/two-tenants" --as-of 2026-12-01 --enforcer fw --from enforcer:fw \
  --to storage --udp 123 --expect pass
