#!/bin/bash
# `audit --on live` as an operator runs it: real sshd servers in the namespaces of a site, hosts
# reached over a management network that the site does not know, the enforcer over the leg that its
# own rules let us use. The compiled rules are loaded beforehand; the audit loads none.
. "$(dirname "$0")/../../cli/lib.sh"
need_netns
if [ ! -x /usr/sbin/sshd ]; then
  echo "SKIPPED: needs openssh-server"
  exit 77
fi

site=$source_tree/tests/lab/live/site
program=$bulkhead
agent=$(dirname "$program")/bulkhead-agent
run=live$$
netns() { echo "bh-by-ssh-$run-$1"; }
on() { ip netns exec "$(netns "$1")" "${@:2}"; }

declare -A sshd=()
stop_sshd() {
  kill "$(cat "$work/$1.pid")"
  wait "${sshd[$1]}" || true
  unset "sshd[$1]"
}
clean_up() {
  for host in "${!sshd[@]}"; do stop_sshd "$host"; done
  "$program" lab down "$site" --run "$run" -q 2>/dev/null || true
  ip netns del "$(netns oob)" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

# ---- the site, and a management network beside it
expect 0 lab up "$site" --run "$run"
ip netns add "$(netns oob)"
on oob ip link add oob type bridge
on oob ip link set oob up
connect() { # HOST ADDRESS
  on oob ip link add "$1" type veth peer name oob0 netns "$(netns "$1")"
  on oob ip link set "$1" master oob up
  on "$1" ip address add "$2/24" dev oob0
  on "$1" ip link set oob0 up
}
declare -A address=([red1]=192.168.99.11 [red2]=192.168.99.12 [blue1]=192.168.99.21
  [blue2]=192.168.99.22 [op]=192.168.99.9 [fw]=10.9.0.1)
for host in red1 red2 blue1 blue2 op; do connect "$host" "${address[$host]}"; done

# ---- what the operator and the hosts set up: keys, known_hosts, the agent in the PATH
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N '' -f user_key
mkdir -p /run/sshd bin
ln -s "$agent" bin/bulkhead-agent
for host in "${!address[@]}"; do
  echo "${address[$host]} $(cut -d' ' -f1-2 host_key.pub)"
done >known_hosts
cat >ssh_config <<END
Host *
  User root
  IdentityFile $work/user_key
  IdentitiesOnly yes
  BatchMode yes
  ConnectTimeout 5
  UserKnownHostsFile $work/known_hosts
  StrictHostKeyChecking yes
END
for host in "${!address[@]}"; do
  printf 'Host %s %s.oob\n  HostName %s\n' "$host" "$host" "${address[$host]}"
done >>ssh_config

# bash reads root's .bashrc at the other end of ssh unless it believes to be inside another shell:
# what this machine's root has there is none of this test's.
start_sshd() { # HOST [LINE OF sshd_config]...
  local host=$1
  shift
  {
    printf '%s\n' "$@" "ListenAddress ${address[$host]}:22" "HostKey $work/host_key" \
      "AuthorizedKeysFile $work/user_key.pub" "PidFile $work/$host.pid" "StrictModes no" \
      "UsePAM no" "PermitRootLogin prohibit-password" "PasswordAuthentication no" \
      "SetEnv SHLVL=2 PATH=$work/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  } >"$host.sshd_config"
  rm -f "$host.pid"
  on "$host" /usr/sbin/sshd -D -f "$work/$host.sshd_config" -E "$work/$host.log" &
  sshd[$host]=$!
  for _ in $(seq 100); do
    [ -e "$host.pid" ] && return
    sleep 0.05
  done
  fail "no sshd on $host: $(cat "$host.log")"
}
for host in "${!address[@]}"; do start_sshd "$host"; done

printf '#!/bin/sh\nexec ip netns exec %s %s "$@"\n' "$(netns op)" "$program" >as_operator
chmod +x as_operator
bulkhead=$work/as_operator
audit() { expect "$1" audit "$site" --on live --ssh "ssh -F $work/ssh_config -T" --color never "${@:2}"; }
rules_of_fw() { on fw nft list ruleset | sed 's/packets [0-9]* bytes [0-9]*//' | sha256sum; }
before=$(rules_of_fw)

# ---- as intended
audit 0
head -1 out | grep -q ' LIVE  by-ssh' || fail "the first line does not say live"
said 'exit 0: as intended'
said 'proof     fw: equal for all packets'
[ "$before" = "$(rules_of_fw)" ] || fail "the audit changed the enforcer's ruleset"

# ---- a leak made on purpose
on fw nft insert rule inet bulkhead forward ip saddr 10.2.0.0/24 tcp dport 443 accept
audit 1
said 'LEAK  2 cells'
said 'NOT EQUAL  rules of fw: the loaded rules are not what the policy says'
said 'blue1 10.2.0.11 -> red1 10.1.0.11 tcp 443'
on fw nft delete rule inet bulkhead forward handle \
  "$(on fw nft -a list chain inet bulkhead forward | sed -n 's/.*dport 443 accept.*# handle //p')"
[ "$before" = "$(rules_of_fw)" ] || fail "the leak is still there"

# ---- the words of a login script before the agent's
stop_sshd red1
start_sshd red1 'ForceCommand echo "Welcome to red1!"; echo "{ a banner }"; exec sh -c "$SSH_ORIGINAL_COMMAND"' \
  "Banner $work/host_key.pub"
stop_sshd fw
start_sshd fw 'ForceCommand echo "Authorised use only"; exec sh -c "$SSH_ORIGINAL_COMMAND"'
audit 0

# ---- a host without agent, a host without sshd, an enforcer without sshd: told, never "blocked"
stop_sshd red1
start_sshd red1 "SetEnv SHLVL=2 PATH=/usr/sbin:/usr/bin:/sbin:/bin"
audit 4
said 'bulkhead-agent'
stop_sshd red1
audit 4
said 'agent red1: the agent is gone (ssh: connect to host 192.168.99.11 port 22: Connection refused)'
start_sshd red1
stop_sshd fw
audit 4
said 'note      the trace table stays: remove the trace table on fw: fw: `nft -f -` exited with 255: ssh: connect'
said 'agent fw: the agent is gone (ssh: connect to host 10.9.0.1 port 22: Connection refused)'
start_sshd fw

# ---- and as before, by sudo where there is one: its PATH is its own, so the agent is named
become=()
command -v sudo >/dev/null && become=(--sudo --agent "$work/bin/bulkhead-agent")
audit 0 --format json "${become[@]}"
said '"made": "live"'
[ "$before" = "$(rules_of_fw)" ] || fail "the audit changed the enforcer's ruleset"
