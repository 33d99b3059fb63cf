# bash completion of bulkhead. Verbs, options and formats are asked of the program itself.
# shellcheck shell=bash
_bulkhead() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local program=${COMP_WORDS[0]} verbs verb
  verbs=$("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z]+( [a-z]+)?)  +.*/\1/p')
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(cut -d' ' -f1 <<<"$verbs" | sort -u)" -- "$current")
    return
  fi
  verb=${COMP_WORDS[1]}
  if ! grep -qx -- "$verb" <<<"$verbs"; then # of two words, "lab up"
    if [ "$COMP_CWORD" = 2 ]; then
      mapfile -t COMPREPLY < <(compgen -W "$(sed -n "s/^$verb //p" <<<"$verbs")" -- "$current")
      return
    fi
    verb+=" ${COMP_WORDS[2]}"
  fi
  local page
  # shellcheck disable=SC2086  # "lab up" is two words
  page=$("$program" $verb --help 2>/dev/null)
  case $previous in
    --format)
      mapfile -t COMPREPLY < <(compgen -W \
        "$(sed -nE 's/^ +--format FORMAT +//p' <<<"$page" | tr -d ',')" -- "$current")
      return
      ;;
    --on) mapfile -t COMPREPLY < <(compgen -W 'lab live' -- "$current") && return ;;
    --fail-on)
      local kinds='leak outage inconclusive silent not-covered'
      [ "$verb" = diff ] && kinds='opened closed any'
      mapfile -t COMPREPLY < <(compgen -W "$kinds" -- "$current")
      return
      ;;
    --hook) mapfile -t COMPREPLY < <(compgen -W 'forward input output' -- "$current") && return ;;
    --state)
      mapfile -t COMPREPLY < <(compgen -W \
        'new established reply related invalid untracked any' -- "$current")
      return
      ;;
    --expect) mapfile -t COMPREPLY < <(compgen -W 'pass block' -- "$current") && return ;;
    # Names of a site are its own; a file's name would never be right.
    --from | --to | --enforcer | --run | --in | --out | --proto | --sport | --tcp | --udp | --sctp | --ip | \
      --icmp | --include | --exclude | --ignore | --seed | --timeout | --min-coverage | --as-of | --ssh) return ;;
    --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current") && return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^ .*' <<<"$page" |
      grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _bulkhead bulkhead
