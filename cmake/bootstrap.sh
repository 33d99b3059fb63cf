#!/bin/sh
# bootstrap.sh [--tests]: installs what tests/packages.txt names and this machine lacks, by apt;
# without --tests only what building and running needs. Where nothing is missing it touches neither
# apt nor the network. Works as root without sudo, or as a user with sudo.
set -eu

list="$(dirname "$0")/../tests/packages.txt"

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "bootstrap: no apt here: install the counterparts of the packages in $list yourself" >&2
  exit 0
fi

missing=
if [ "${1-}" = --tests ]; then wanted='NF'; else wanted='NF == 1'; fi
for package in $(sed 's/#.*//' "$list" | awk "$wanted { print \$1 }"); do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "bootstrap: these packages are missing, and installing them needs root (there is no sudo):$missing" >&2
    exit 3
  fi
  as_root=sudo
fi

# Services start by themselves on installation (sshd): the tests only need the program, so what was
# not running stays down. invoke-rc.d asks policy-rc.d; 101 means "not allowed".
policy=/usr/sbin/policy-rc.d
made_policy=
forget_policy() { [ -z "$made_policy" ] || $as_root rm -f "$policy"; }
trap forget_policy EXIT
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
  $as_root chmod 755 "$policy"
  made_policy=1
fi

apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }

echo "bootstrap: installing$missing" >&2
apt update >&2
# shellcheck disable=SC2086  # a list of words
apt install --no-install-recommends $missing >&2
