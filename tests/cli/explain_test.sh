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
told 'in no class'

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
