#!/bin/bash
# Artifacts: complete, the same bytes every time, put in place whole, never over what is not ours.
. "$(dirname "$0")/lib.sh"

expect 0 compile "$sites/two-tenants" --output a --as-of 2026-12-01
said 'a/fw/nftables.nft'
said 'proved: equal to the flow matrix for all packets (in memory'
said 'bytes  file'
said 'a/probes.json'
said 'a/manifest.json'
expect 0 compile "$sites/two-tenants" --output b/ --as-of 2026-12-01 -q
[ -z "$out$err" ] || fail "-q"
diff -r a b || fail "two compilations differ"
file_digest=$(sha256sum <a/fw/nftables.nft | cut -d' ' -f1)
grep -q "$file_digest" a/manifest.json || fail "the manifest has another digest"

# Nothing is written that is not proven; the manifest says how.
grep -q '"result": "equal for all packets"' a/manifest.json || fail "the manifest lacks the proof"
grep -q '"how": "in memory"' a/manifest.json || fail "the manifest does not say how"
if [ "$(id -u)" = 0 ]; then
  expect 0 compile "$sites/two-tenants" --output v --as-of 2026-12-01 --verify -q
  grep -q '"how": "in memory and through the kernel"' v/manifest.json || fail "not verified"
  cmp a/fw/nftables.nft v/fw/nftables.nft || fail "--verify changes the rules"
  # What others have loaded beside it counts there.
  cp -r "$sites/two-tenants" other
  printf 'table inet other {\n chain f {\n  type filter hook forward priority -5; policy accept;\n  tcp dport 2049 drop\n }\n}\n' \
    >other/others.nft
  sed -i '/^\[enforcer.fw\]/a foreign = ["others.nft"]' other/inventory.toml
  if "$bulkhead" check other --as-of 2026-12-01 -q; then
    expect 0 compile other --output o --as-of 2026-12-01 -q
    rm -r o
    expect 1 compile other --output o --as-of 2026-12-01 --verify
    told 'CLOSES'
    told 'nothing was written'
    [ ! -e o ] || fail "written, though it is not equal"
  fi
fi

# Over its own output: replaced as a whole, no leftovers of either.
mkdir -p a/gone && echo x >a/fw/nftables.nft
expect 0 compile "$sites/two-tenants" --output a --as-of 2026-12-01
diff -r a b || fail "not replaced as a whole"
[ "$(find . -name '.[ab].*' | wc -l)" = 0 ] || fail "scratch left behind"

# Over somebody's files: refused, untouched.
mkdir mine && echo precious >mine/notes.txt
expect 2 compile "$sites/two-tenants" --output mine
told 'notes.txt'
[ "$(ls mine)" = notes.txt ] || fail "touched"
cp -r a c && echo precious >c/notes.txt
expect 2 compile "$sites/two-tenants" --output c
expect 2 compile "$sites/two-tenants" --output mine/notes.txt
expect 3 compile "$sites/two-tenants" --output nowhere/deep
