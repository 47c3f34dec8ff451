#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# setup.sh [LIST]: install the packages of dev/packages (or LIST) that are missing. When
# that fails, or when not root, print their names and stop.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
list=${1:-$top/dev/packages}

wanted() { lines_of "${list:?}"; }

missing() {
	local have
	have=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' | sed -n 's/ installed$//p')
	comm -23 <(wanted | sort -u) <(sort -u <<<"$have") | paste -sd ' '
}

stop_missing() {
	local names
	names=$(missing)
	[[ -n $names ]] || return 0
	printf 'setup: missing packages: %s\nsetup: install them as root:\n' "$names" >&2
	printf '  apt-get install --no-install-recommends %s\n' "$names" >&2
	exit 1
}

names=$(missing)
[[ -n $names ]] || exit 0
[[ $(id -u) == 0 ]] || stop_missing

printf 'setup: install %s\n' "$names"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt-get update -q >"$log" 2>&1 || true	# an old list may be enough
# shellcheck disable=SC2086 # one word per package
apt-get install -q -y --no-install-recommends $names >>"$log" 2>&1 ||
	tail -n 15 "$log" >&2
stop_missing
