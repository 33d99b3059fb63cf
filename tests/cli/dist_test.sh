#!/bin/bash
# What is installed beside the programs: man pages that name every verb and option, and completion.
. "$(dirname "$0")/lib.sh"

man=$source_tree/cli/dist/man
"$man" "$bulkhead" 1 >bulkhead.1
"$man" "$(dirname "$bulkhead")/bulkhead-agent" 8 >bulkhead-agent.8
expect 0 --help
verbs=$(sed -nE 's/^  ([a-z]+( [a-z]+)?)  +.*/\1/p' out)
plain=$(sed 's/\\-/-/g' bulkhead.1)
while read -r verb; do
  grep -q "^\.SS bulkhead $verb" <<<"$plain" || fail "the page lacks the verb $verb"
  # shellcheck disable=SC2086  # "lab up" is two words
  expect 0 $verb --help
  while read -r option; do
    grep -qE "^.fB(-[a-z], )?$option[ \\\\]" <<<"$plain" || fail "the page lacks $option of $verb"
  done < <(grep -oE '^ +(-[a-z], )?--[a-z-]+' out | grep -oE -- '--[a-z-]+')
done <<<"$verbs"
grep -qF -- '\-\-stdio' bulkhead-agent.8 || fail "the agent's page lacks its options"
if command -v groff >/dev/null; then
  for page in bulkhead.1 bulkhead-agent.8; do
    complaints=$(groff -ww -man -Tutf8 -z "$page" 2>&1) || true
    [ -z "$complaints" ] || fail "$page: $complaints"
  done
fi

completes() { # WORD... WANTED
  COMP_WORDS=("$bulkhead" "${@:1:$#-1}")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _bulkhead
  printf '%s\n' "${COMPREPLY[@]}" | grep -qx -- "${*: -1}" || fail "no completion: $*"
}
# shellcheck source=/dev/null
. "$source_tree/cli/dist/bulkhead.bash"
completes au audit
touch ./somefile
COMP_WORDS=("$bulkhead" explain site --from some) COMP_CWORD=4 COMPREPLY=()
_bulkhead
[ "${#COMPREPLY[@]}" = 0 ] || fail "a file where a class is wanted: ${COMPREPLY[*]}"
completes lab u up
completes audit --ti --timeout
completes lab up --ru --run
completes audit --format ju junit
completes audit --on li live
completes diff --fail-on op opened
completes audit --fail-on le leak
