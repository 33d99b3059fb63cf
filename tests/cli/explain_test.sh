#!/bin/bash
# One flow: which line decides, by default deny too; classes, hosts and addresses are understood.
. "$(dirname "$0")/lib.sh"

ask() { expect 0 explain "$sites/two-tenants" --as-of 2026-12-01 "$@"; }

ask --from red --to blue --tcp 22
said 'DENIED'
said 'default'
said 'fw drops it'
ask --from red1 --to 10.3.0.11 --tcp 2049
said 'ALLOWED'
said 'tenants/red.toml:'
said 'fw lets it pass'
ask --from storage --to red --tcp 22
said 'DENIED'
said 'D1'
ask --from fd00:1::11 --to red2 --udp 9
said 'inside'
ask --from red --to blue --icmp echo --format json
said '"action": "deny"'
expect 2 explain "$sites/two-tenants" --from 10.3.0.99 --to red --tcp 22
told 'inside its own segment storage, which is open, nothing of ours stands between'
expect 2 explain "$sites/two-tenants" --from 10.99.0.1 --to red --tcp 22
told 'no host of the inventory and no external has it'

# A segment whose hosts all carry labels is no class, and stands for its classes.
cp -r "$sites/two-tenants" labelled
rm labelled/faults.toml
sed -i 's/^nic.eth0 = { segment = "red".*/labels = ["web"]\nnic.eth0 = { segment = "red", v4 = "10.1.0.11" }/
  s/^\[host."red\[1-2\]"\]/[host.red2]\nlabels = ["db"]\nnic.eth0 = { segment = "red", v4 = "10.1.0.12" }\n[host.red1]/' \
  labelled/inventory.toml
expect 0 explain labelled --from red --to blue --tcp 22
said 'from red.web to blue'
said 'from red.db to blue'
expect 0 explain labelled --from tenant:red --to blue --tcp 22 --format json
said '"pairs"'
expect 0 explain labelled --from red.web --to blue --tcp 22 --format json
said '"from": "red.web"'

# An address has one family, whatever its class has.
ask --from 10.1.0.11 --to 10.3.0.11 --tcp 2049
said 'ALLOWED'
ask --from 10.1.0.11 --to fd00:3::11 --tcp 2049
said 'DENIED'
said 'nothing carries it'
ask --from fd00:1::11 --to fd00:1::12 --icmp timestamp
said 'DENIED'
said 'nothing carries it'
ask --from red --to storage --ip 112/224.0.0.18
said 'ip 112 to 224.0.0.18'
expect 2 explain "$sites/two-tenants" --from red --to blue --ip 112/here
told '112/224.0.0.18'

# An enforcer by its own name, or by a member's.
expect 2 explain "$sites/two-tenants" --from red --to fw --tcp 22
told 'did you mean `enforcer:fw`?'
