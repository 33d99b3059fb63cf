#!/bin/bash
# Each verb of `--help` has a page of its own with an example.
. "$(dirname "$0")/lib.sh"

expect 0 --help
said 'Usage: bulkhead VERB'
said 'Exit codes:'
silent
verbs=$(sed -n 's/^  \([a-z]\+\( [a-z]\+\)\?\)  .*/\1/p' out)
[ "$(wc -l <<<"$verbs")" -ge 11 ] || fail "only these verbs: $verbs"
while read -r verb; do
  # shellcheck disable=SC2086  # "lab up" is two words
  expect 0 $verb --help
  said "Usage: bulkhead $verb"
  said 'Example:'
  silent
  # shellcheck disable=SC2086
  expect 0 help $verb
done <<<"$verbs"

for family in lab import; do
  expect 0 $family --help
  said "$family "
  silent
done

expect 0 --version
said 'bulkhead 0.'
expect 0 version
