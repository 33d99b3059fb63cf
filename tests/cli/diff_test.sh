#!/bin/bash
# What opens and what closes between two rulesets: files, sites, this machine, a host by ssh.
. "$(dirname "$0")/lib.sh"
need_netns

space=bh-cli-diff-$$
ip netns add "$space"
trap 'ip netns del "$space" 2>/dev/null || true; rm -rf "$work"' EXIT
site=$sites/two-tenants
date=(--as-of 2026-12-01)

expect 0 compile "$site" --output rules "${date[@]}" -q
cp rules/fw/nftables.nft old.nft
sed 's/tcp dport 2049 counter accept comment "R1"/tcp dport 2050 counter accept comment "R1"/' \
  old.nft >new.nft

# ---- two files; the words of a policy by --site
expect 0 diff old.nft file:old.nft
said 'exit 0: the same packets pass'
silent
expect 1 diff old.nft new.nft
said 'OPENS  forward'
said '10.1.0.11-10.1.0.12 → 10.3.0.11-10.3.0.12: tcp 2050'
said 'CLOSES  forward'
said '10.1.0.11-10.1.0.12 → 10.3.0.11-10.3.0.12: tcp 2049'
expect 1 diff old.nft new.nft --site "$site" "${date[@]}"
said 'OPENS  forward'
said 'red → storage: tcp 2050'
said 'CLOSES  forward'
said 'red → storage: nfs (tcp 2049)'
said 'for example tcp 10.1.0.11:40000 -> 10.3.0.'
# Both sides' rules.
said 'before  inet bulkhead c_red, rule 5 "default": drop'
said 'after   inet bulkhead d_3_bond0_103, rule 1 "R1": accept'

# ---- outside the model: the same words may decide otherwise, and may not be what was loaded
asks() { # policy rule
  cat <<END
table inet t {
  chain f {
    type filter hook forward priority 0; policy $1;
    $2
  }
}
END
}
asks drop 'rt classid 7 accept' >accepts.nft
asks accept 'rt classid 7 drop' >drops.nft
expect 0 diff accepts.nft accepts.nft
expect 4 diff accepts.nft drops.nft
said 'UNKNOWN'
# nft 1.0.6 lists both as { 0 . 0 }.
asks drop 'meta length . tcp dport { 40-200 . 22 } accept' >short.nft
asks drop 'meta length . tcp dport { 40-65535 . 22 } accept' >long.nft
expect 4 diff short.nft long.nft
expect 4 query short.nft --tcp 22
said 'NOT KNOWN'
asks drop 'meta cpu . tcp dport { 0-1 . 22 } accept' >one.nft
asks drop 'meta cpu . tcp dport { 0-9 . 22 } accept' >ten.nft
expect 4 diff one.nft ten.nft

# ---- --fail-on, for pipelines
grep -v '"B1"' old.nft >closed.nft
expect 1 diff old.nft closed.nft
expect 1 diff old.nft closed.nft --fail-on closed
expect 0 diff old.nft closed.nft --fail-on opened
said 'none of a kind that --fail-on asks for'
expect 1 diff closed.nft old.nft --fail-on opened
expect 0 diff closed.nft old.nft --fail-on closed
expect 1 diff old.nft closed.nft --fail-on any --format json
python3 - <<'END' || fail "not the JSON that was expected"
import json
diff = json.load(open("out"))
assert diff["schema"] == "bulkhead.diff/1" and diff["exit"] == 1 and diff["opened"] == 0
change = diff["enforcers"][0]["changes"][0]
one = change["differences"][0]
assert change["change"] == "closes" and one["rules_before"] and one["rules_after"]
assert one["example"]["dport"] in (2049, 123)
END
expect 1 diff old.nft closed.nft --format junit -o diff.xml
python3 - <<'END' || fail "not the XML that was expected"
import xml.etree.ElementTree as tree
suite = tree.parse("diff.xml").getroot()
assert suite.get("tests") == "3" and suite.get("failures") == "1", suite.attrib
END

# ---- a site; a change of its policy; an enforcer of its own
expect 0 diff "$site" old.nft "${date[@]}"
cp -r "$site" later
sed -i 's/2049/2050/' later/policy.toml
expect 1 diff "site:$site" site:later "${date[@]}"
said 'fw  compiled → compiled'
said 'CLOSES  forward'
said 'red → storage: tcp 2049'
said 'OPENS  forward'
said 'red → storage: nfs (tcp 2050)'
expect 2 diff "$site" old.nft --enforcer nobody "${date[@]}"
told 'known are: fw'

# ---- what is loaded: in this namespace, and on a host
printf '#!/bin/sh\nexec ip netns exec %s %s "$@"\n' "$space" "$bulkhead" >inside
# As ssh: options, --, the host, and a command for its shell. `nowhere` does not answer.
cat >fake_ssh <<END
#!/bin/sh
while [ "\$1" != -- ]; do shift; done
[ "\$2" = nowhere ] && { echo "ssh: connect to host nowhere port 22: No route to host" >&2; exit 255; }
shift 2
exec ip netns exec $space sh -c "\$*"
END
chmod +x inside fake_ssh
ip netns exec "$space" nft -f new.nft
program=$bulkhead
bulkhead=$work/inside
expect 1 diff "$site" live: "${date[@]}"
said 'fw  compiled → live localhost'
said 'OPENS  forward'
said 'red → storage: tcp 2050'
expect 0 diff live:localhost new.nft
bulkhead=$program
expect 1 diff live:fw "$site" --ssh ./fake_ssh "${date[@]}"
said 'fw  live fw → compiled'
said 'CLOSES  forward'
said 'red → storage: tcp 2050'
said 'Of a side only a listing was there'
expect 0 diff live:anything new.nft --ssh ./fake_ssh

# ---- "could not list" is never "no rules"
expect 3 diff live:nowhere old.nft --ssh ./fake_ssh
told 'No route to host'
expect 3 diff live:fw old.nft --ssh false
expect 3 diff live:fw old.nft --ssh 'echo {}'
told 'not complete'
ip netns exec "$space" nft -f - <<'END'
table ip asleep {
 flags dormant
 chain c {
  type filter hook input priority 0; policy drop;
 }
}
END
bulkhead=$work/inside
expect 3 diff live: old.nft
told 'table ip asleep is dormant'
bulkhead=$program

# ---- what is not known is not called equal; the same unknown on both sides is
for class in 7 8; do
  cp old.nft "unknown$class.nft"
  printf 'table inet x {\n chain f {\n  type filter hook forward priority 5;\n  rt classid %s drop\n }\n}\n' \
    $class >>"unknown$class.nft"
done
expect 4 diff old.nft unknown7.nft
said 'UNKNOWN'
expect 4 diff unknown7.nft unknown8.nft
expect 0 diff unknown7.nft unknown7.nft

# ---- bad words
expect 2 diff nothing.nft old.nft
told 'site:DIR, file:RULESET or live:HOST'
expect 2 diff site: old.nft
expect 2 diff old.nft
echo 'table inet x { nonsense }' >broken.nft
expect 2 diff old.nft broken.nft
told 'broken.nft'
